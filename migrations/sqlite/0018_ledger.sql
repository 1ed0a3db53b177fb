-- The verifiable ledger: every receipt, and what became known of it later, is a leaf of one growing Merkle tree.

-- What has no leaf yet. It comes in by a trigger, in the transaction of the receipt, so nothing can be left out. A leaf gets its
-- index once that transaction has ended: nothing waits for anything on the way of a send.
CREATE TABLE ledger_waiting (
    record_id  TEXT NOT NULL PRIMARY KEY,
    receipt_id TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('receipt', 'amendment'))
);
CREATE INDEX ledger_waiting_by_receipt ON ledger_waiting (receipt_id);

-- The leaves, in their order. hash: of the salt and the record, which stands in its own table. Retention takes record and salt
-- away, and the hash stays.
CREATE TABLE ledger_leaves (
    idx        BIGINT NOT NULL PRIMARY KEY CHECK (idx >= 0),
    record_id  TEXT   NOT NULL UNIQUE,
    receipt_id TEXT   NOT NULL,
    kind       TEXT   NOT NULL CHECK (kind IN ('receipt', 'amendment')),
    form       BIGINT NOT NULL,
    salt       BLOB   CHECK (LENGTH(salt) = 32),
    hash       BLOB   NOT NULL CHECK (LENGTH(hash) = 32)
);
CREATE INDEX ledger_leaves_by_receipt ON ledger_leaves (receipt_id);

-- The heads that were signed, with what the tree goes on from: the heads of its largest whole subtrees.
CREATE TABLE ledger_checkpoints (
    size      BIGINT NOT NULL PRIMARY KEY CHECK (size >= 0),
    note      TEXT   NOT NULL,
    peaks     BLOB   NOT NULL,
    signed_at BIGINT NOT NULL
);

-- What they are signed with, sealed, and the name of the log.
CREATE TABLE ledger_keys (
    name    TEXT   NOT NULL PRIMARY KEY,
    origin  TEXT   NOT NULL,
    secret  BLOB   NOT NULL,
    made_at BIGINT NOT NULL
);

-- Receipts of earlier versions wait for their leaves too.
INSERT INTO ledger_waiting (record_id, receipt_id, kind) SELECT id, id, 'receipt' FROM receipts;
INSERT INTO ledger_waiting (record_id, receipt_id, kind) SELECT id, receipt_id, 'amendment' FROM receipt_amendments;

CREATE TRIGGER receipts_await_a_leaf AFTER INSERT ON receipts
BEGIN INSERT INTO ledger_waiting (record_id, receipt_id, kind) VALUES (NEW.id, NEW.id, 'receipt'); END;
CREATE TRIGGER receipt_amendments_await_a_leaf AFTER INSERT ON receipt_amendments
BEGIN INSERT INTO ledger_waiting (record_id, receipt_id, kind) VALUES (NEW.id, NEW.receipt_id, 'amendment'); END;

CREATE TRIGGER ledger_waiting_no_update BEFORE UPDATE ON ledger_waiting BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_waiting_no_delete BEFORE DELETE ON ledger_waiting
WHEN NOT EXISTS (SELECT 1 FROM ledger_leaves l WHERE l.record_id = OLD.record_id)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

-- One behind the other, without a gap, and never twice. It also keeps INSERT OR REPLACE out, which deletes without asking.
CREATE TRIGGER ledger_leaves_in_order BEFORE INSERT ON ledger_leaves
WHEN NEW.idx <> (SELECT COALESCE(MAX(idx) + 1, 0) FROM ledger_leaves)
    OR EXISTS (SELECT 1 FROM ledger_leaves l WHERE l.record_id = NEW.record_id)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
-- Retention alone may take the salt, of a receipt that it forgets.
CREATE TRIGGER ledger_leaves_no_update BEFORE UPDATE ON ledger_leaves
WHEN NEW.salt IS NOT NULL OR NEW.idx <> OLD.idx OR NEW.record_id <> OLD.record_id OR NEW.receipt_id <> OLD.receipt_id
    OR NEW.kind <> OLD.kind OR NEW.form <> OLD.form OR NEW.hash <> OLD.hash
    OR NOT EXISTS (SELECT 1 FROM receipts_forgotten f WHERE f.receipt_id = OLD.receipt_id)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_leaves_no_delete BEFORE DELETE ON ledger_leaves BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

-- Heads only grow, and none covers a leaf that is not there.
CREATE TRIGGER ledger_checkpoints_grow BEFORE INSERT ON ledger_checkpoints
WHEN NEW.size <= (SELECT COALESCE(MAX(size), -1) FROM ledger_checkpoints)
    OR NEW.size > (SELECT COALESCE(MAX(idx) + 1, 0) FROM ledger_leaves)
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_checkpoints_no_update BEFORE UPDATE ON ledger_checkpoints BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_checkpoints_no_delete BEFORE DELETE ON ledger_checkpoints BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
