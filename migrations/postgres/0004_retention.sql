-- Receipts that have passed their retention, by id alone. A receipt can be deleted only when it stands here, and it can
-- stand here only when nothing about it is open and it is more than a day old, the shortest retention there is.
CREATE TABLE receipts_forgotten (
    receipt_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    forgotten_at BIGINT NOT NULL
);
CREATE INDEX receipts_by_time ON receipts (at);

CREATE FUNCTION refuse_young_or_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM receipts r WHERE r.id = NEW.receipt_id AND r.at <= NEW.forgotten_at - 86400000000
        AND COALESCE((SELECT m.outcome FROM receipt_amendments m WHERE m.receipt_id = r.id ORDER BY m.id DESC LIMIT 1), r.outcome) <> 'in_doubt'
    ) THEN
        RAISE EXCEPTION 'receipts are append-only';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER receipts_forgotten_only_old BEFORE INSERT ON receipts_forgotten FOR EACH ROW EXECUTE FUNCTION refuse_young_or_open();
CREATE TRIGGER receipts_forgotten_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON receipts_forgotten FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION refuse_unless_forgotten() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    receipt TEXT := CASE TG_TABLE_NAME WHEN 'receipts' THEN to_jsonb(OLD) ->> 'id' ELSE to_jsonb(OLD) ->> 'receipt_id' END;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM receipts_forgotten f WHERE f.receipt_id = receipt) THEN
        RAISE EXCEPTION '% are append-only', TG_TABLE_NAME;
    END IF;
    RETURN OLD;
END
$$;
DROP TRIGGER receipts_no_change ON receipts;
CREATE TRIGGER receipts_no_change BEFORE UPDATE OR TRUNCATE ON receipts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER receipts_no_delete BEFORE DELETE ON receipts FOR EACH ROW EXECUTE FUNCTION refuse_unless_forgotten();
DROP TRIGGER receipt_amendments_no_change ON receipt_amendments;
CREATE TRIGGER receipt_amendments_no_change BEFORE UPDATE OR TRUNCATE ON receipt_amendments FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER receipt_amendments_no_delete BEFORE DELETE ON receipt_amendments FOR EACH ROW EXECUTE FUNCTION refuse_unless_forgotten();
