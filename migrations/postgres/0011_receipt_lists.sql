-- Lists of receipts and the inbox, in a time that does not grow with how many there are.

-- Receipts of sends whose answer was not seen at first: few, and the only ones that can end otherwise than answered.
CREATE INDEX receipts_unanswered ON receipts (id) WHERE outcome = 'in_doubt';

-- Calls that somebody has to settle, which every page counts.
CREATE INDEX calls_in_doubt ON calls (id) WHERE state = 'in_doubt';

-- An index serves a comparison only when both sort alike, and the ids these are compared with sort byte by byte. Hosts are
-- looked up by range.
ALTER TABLE receipt_amendments ALTER COLUMN receipt_id TYPE TEXT COLLATE "C";
ALTER TABLE call_approvers ALTER COLUMN call_id TYPE TEXT COLLATE "C";
ALTER TABLE receipts ALTER COLUMN host TYPE TEXT COLLATE "C";
