-- Lists of receipts and the inbox, in a time that does not grow with how many there are.

-- Receipts of sends whose answer was not seen at first: few, and the only ones that can end otherwise than answered.
CREATE INDEX receipts_unanswered ON receipts (id) WHERE outcome = 'in_doubt';

-- Calls that somebody has to settle, which every page counts.
CREATE INDEX calls_in_doubt ON calls (id) WHERE state = 'in_doubt';
