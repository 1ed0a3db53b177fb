-- Receipts that have passed their retention, by id alone. A receipt can be deleted only when it stands here, and it can
-- stand here only when nothing about it is open and it is more than a day old, the shortest retention there is.
CREATE TABLE receipts_forgotten (
    receipt_id   TEXT   NOT NULL PRIMARY KEY,
    forgotten_at BIGINT NOT NULL
);
CREATE INDEX receipts_by_time ON receipts (at);

CREATE TRIGGER receipts_forgotten_only_old BEFORE INSERT ON receipts_forgotten
WHEN NOT EXISTS (
    SELECT 1 FROM receipts r WHERE r.id = NEW.receipt_id AND r.at <= NEW.forgotten_at - 86400000000
    AND COALESCE((SELECT m.outcome FROM receipt_amendments m WHERE m.receipt_id = r.id ORDER BY m.id DESC LIMIT 1), r.outcome) <> 'in_doubt'
)
BEGIN SELECT RAISE(ABORT, 'receipts are append-only'); END;
CREATE TRIGGER receipts_forgotten_no_update BEFORE UPDATE ON receipts_forgotten BEGIN SELECT RAISE(ABORT, 'receipts are append-only'); END;
CREATE TRIGGER receipts_forgotten_no_delete BEFORE DELETE ON receipts_forgotten BEGIN SELECT RAISE(ABORT, 'receipts are append-only'); END;

DROP TRIGGER receipts_no_delete;
CREATE TRIGGER receipts_no_delete BEFORE DELETE ON receipts
WHEN NOT EXISTS (SELECT 1 FROM receipts_forgotten f WHERE f.receipt_id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'receipts are append-only'); END;
DROP TRIGGER receipt_amendments_no_delete;
CREATE TRIGGER receipt_amendments_no_delete BEFORE DELETE ON receipt_amendments
WHEN NOT EXISTS (SELECT 1 FROM receipts_forgotten f WHERE f.receipt_id = OLD.receipt_id)
BEGIN SELECT RAISE(ABORT, 'receipts are append-only'); END;

-- INSERT OR REPLACE deletes without asking the triggers above.
CREATE TRIGGER receipts_no_replace BEFORE INSERT ON receipts
WHEN EXISTS (SELECT 1 FROM receipts r WHERE r.id = NEW.id OR r.call_id = NEW.call_id)
BEGIN SELECT RAISE(ABORT, 'receipts are append-only'); END;
CREATE TRIGGER receipt_amendments_no_replace BEFORE INSERT ON receipt_amendments
WHEN EXISTS (SELECT 1 FROM receipt_amendments m WHERE m.id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'receipts are append-only'); END;
CREATE TRIGGER events_no_replace BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events e WHERE e.id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
