-- The verifiable ledger: every receipt, and what became known of it later, is a leaf of one growing Merkle tree.

-- What has no leaf yet. It comes in by a trigger, in the transaction of the receipt, so nothing can be left out. A leaf gets its
-- index once that transaction has ended: nothing waits for anything on the way of a send.
CREATE TABLE ledger_waiting (
    record_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    receipt_id TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL CHECK (kind IN ('receipt', 'amendment'))
);
CREATE INDEX ledger_waiting_by_receipt ON ledger_waiting (receipt_id);

-- The leaves, in their order. hash: of the salt and the record, which stands in its own table. Retention takes record and salt
-- away, and the hash stays.
CREATE TABLE ledger_leaves (
    idx        BIGINT NOT NULL PRIMARY KEY CHECK (idx >= 0),
    record_id  TEXT COLLATE "C" NOT NULL UNIQUE,
    receipt_id TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL CHECK (kind IN ('receipt', 'amendment')),
    form       BIGINT NOT NULL,
    salt       BYTEA  CHECK (LENGTH(salt) = 32),
    hash       BYTEA  NOT NULL CHECK (LENGTH(hash) = 32)
);
CREATE INDEX ledger_leaves_by_receipt ON ledger_leaves (receipt_id);

-- The heads that were signed, with what the tree goes on from: the heads of its largest whole subtrees.
CREATE TABLE ledger_checkpoints (
    size      BIGINT NOT NULL PRIMARY KEY CHECK (size >= 0),
    note      TEXT COLLATE "C" NOT NULL,
    peaks     BYTEA  NOT NULL,
    signed_at BIGINT NOT NULL
);

-- What they are signed with, sealed, and the name of the log.
CREATE TABLE ledger_keys (
    name    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    origin  TEXT COLLATE "C" NOT NULL,
    secret  BYTEA  NOT NULL,
    made_at BIGINT NOT NULL
);

-- Receipts of earlier versions wait for their leaves too.
INSERT INTO ledger_waiting (record_id, receipt_id, kind) SELECT id, id, 'receipt' FROM receipts;
INSERT INTO ledger_waiting (record_id, receipt_id, kind) SELECT id, receipt_id, 'amendment' FROM receipt_amendments;

CREATE FUNCTION await_a_leaf() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'receipts' THEN
        INSERT INTO ledger_waiting (record_id, receipt_id, kind) VALUES (NEW.id, NEW.id, 'receipt');
    ELSE
        INSERT INTO ledger_waiting (record_id, receipt_id, kind) VALUES (NEW.id, to_jsonb(NEW) ->> 'receipt_id', 'amendment');
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER receipts_await_a_leaf AFTER INSERT ON receipts FOR EACH ROW EXECUTE FUNCTION await_a_leaf();
CREATE TRIGGER receipt_amendments_await_a_leaf AFTER INSERT ON receipt_amendments FOR EACH ROW EXECUTE FUNCTION await_a_leaf();

CREATE FUNCTION refuse_unless_a_leaf() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ledger_leaves l WHERE l.record_id = OLD.record_id) THEN
        RAISE EXCEPTION 'the ledger is append-only';
    END IF;
    RETURN OLD;
END
$$;
CREATE TRIGGER ledger_waiting_no_change BEFORE UPDATE OR TRUNCATE ON ledger_waiting FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_waiting_no_delete BEFORE DELETE ON ledger_waiting FOR EACH ROW EXECUTE FUNCTION refuse_unless_a_leaf();

-- One behind the other, and without a gap. Whoever comes second at the same index is told that it is taken.
CREATE FUNCTION refuse_out_of_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.idx <> (SELECT COALESCE(MAX(idx) + 1, 0) FROM ledger_leaves) THEN
        RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = 'unique_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER ledger_leaves_in_order BEFORE INSERT ON ledger_leaves FOR EACH ROW EXECUTE FUNCTION refuse_out_of_order();
-- Retention alone may take the salt, of a receipt that it forgets.
CREATE FUNCTION refuse_unless_salt_of_forgotten() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.salt IS NOT NULL OR NEW.idx <> OLD.idx OR NEW.record_id <> OLD.record_id OR NEW.receipt_id <> OLD.receipt_id
        OR NEW.kind <> OLD.kind OR NEW.form <> OLD.form OR NEW.hash <> OLD.hash
        OR NOT EXISTS (SELECT 1 FROM receipts_forgotten f WHERE f.receipt_id = OLD.receipt_id) THEN
        RAISE EXCEPTION 'the ledger is append-only';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER ledger_leaves_no_update BEFORE UPDATE ON ledger_leaves FOR EACH ROW EXECUTE FUNCTION refuse_unless_salt_of_forgotten();
CREATE TRIGGER ledger_leaves_no_change BEFORE DELETE OR TRUNCATE ON ledger_leaves FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Heads only grow, and none covers a leaf that is not there.
CREATE FUNCTION refuse_unless_grown() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.size <= (SELECT COALESCE(MAX(size), -1) FROM ledger_checkpoints) THEN
        RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = 'unique_violation';
    END IF;
    IF NEW.size > (SELECT COALESCE(MAX(idx) + 1, 0) FROM ledger_leaves) THEN
        RAISE EXCEPTION 'the ledger is append-only';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER ledger_checkpoints_grow BEFORE INSERT ON ledger_checkpoints FOR EACH ROW EXECUTE FUNCTION refuse_unless_grown();
CREATE TRIGGER ledger_checkpoints_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
