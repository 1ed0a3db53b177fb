-- By what right each decision was said: what its person, or the one in whose place they were, was called in the call's list of
-- approvers just then, a line each. NULL: nobody wrote it down, or it was said by no right of theirs.
ALTER TABLE decisions ADD COLUMN rights TEXT;
