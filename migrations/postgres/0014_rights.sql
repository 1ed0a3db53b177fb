-- Who stands in for whom: while it runs, the delegate decides the held calls that the delegator may decide. It counts from from_at
-- until before until_at, unless it was ended.
CREATE TABLE delegations (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    delegator_id TEXT COLLATE "C" NOT NULL REFERENCES persons (id),
    delegate_id  TEXT COLLATE "C" NOT NULL REFERENCES persons (id),
    from_at      BIGINT NOT NULL,
    until_at     BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    ended_at     BIGINT,
    CHECK (delegator_id <> delegate_id),
    CHECK (until_at > from_at)
);
CREATE INDEX delegations_by_delegator ON delegations (delegator_id, until_at) WHERE ended_at IS NULL;
CREATE INDEX delegations_by_delegate ON delegations (delegate_id, until_at) WHERE ended_at IS NULL;

-- For whom somebody decided, when it was not for themselves; and whether it was an operator's override. Nobody's right is used
-- twice on one call, whoever uses it.
ALTER TABLE decisions ADD COLUMN for_id TEXT COLLATE "C" REFERENCES persons (id);
ALTER TABLE decisions ADD COLUMN kind TEXT COLLATE "C" NOT NULL DEFAULT 'vote' CHECK (kind IN ('vote', 'override'));
CREATE UNIQUE INDEX decisions_once_for ON decisions (call_id, COALESCE(for_id, person_id)) WHERE voided_at IS NULL;
CREATE INDEX decisions_overriding ON decisions (at) WHERE kind = 'override' AND voided_at IS NULL;

-- The same in a receipt. approval_for: beside each id of approval_by the one in whose place they decided, or null.
ALTER TABLE receipts ADD COLUMN approval_for TEXT COLLATE "C";
ALTER TABLE receipts ADD COLUMN approval_reason TEXT COLLATE "C";

-- Who did it, where the journal tells.
ALTER TABLE events ADD COLUMN by_id TEXT COLLATE "C";

-- A third thing to be told of: that somebody overrode a call.
ALTER TABLE notices DROP CONSTRAINT notices_kind_check;
ALTER TABLE notices ADD CONSTRAINT notices_kind_check CHECK (kind IN ('waiting', 'test', 'overridden'));

-- Who is owed, or was told, that a call was overridden which they may decide. A notice tells what was owed since it was made.
CREATE TABLE notice_overrides (
    addressee   TEXT COLLATE "C" NOT NULL,
    decision_id TEXT COLLATE "C" NOT NULL REFERENCES decisions (id),
    owed_at     BIGINT NOT NULL,
    PRIMARY KEY (addressee, decision_id)
);
CREATE INDEX notice_overrides_by_decision ON notice_overrides (decision_id);
