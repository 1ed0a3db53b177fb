-- When the send of a call was begun: the moment of its durable intent. A pause, or a server that was away, may lie between
-- the end of an undo window and this. Calls that were begun before this column do not tell.
ALTER TABLE calls ADD COLUMN begun_at BIGINT;
