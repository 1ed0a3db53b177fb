-- Who stands in for whom: while it runs, the delegate decides the held calls that the delegator may decide. It counts from from_at
-- until before until_at, unless it was ended.
CREATE TABLE delegations (
    id           TEXT   NOT NULL PRIMARY KEY,
    delegator_id TEXT   NOT NULL REFERENCES persons (id),
    delegate_id  TEXT   NOT NULL REFERENCES persons (id),
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
ALTER TABLE decisions ADD COLUMN for_id TEXT REFERENCES persons (id);
ALTER TABLE decisions ADD COLUMN kind TEXT NOT NULL DEFAULT 'vote' CHECK (kind IN ('vote', 'override'));
CREATE UNIQUE INDEX decisions_once_for ON decisions (call_id, COALESCE(for_id, person_id)) WHERE voided_at IS NULL;
CREATE INDEX decisions_overriding ON decisions (at) WHERE kind = 'override' AND voided_at IS NULL;

-- The same in a receipt. approval_for: beside each id of approval_by the one in whose place they decided, or null.
ALTER TABLE receipts ADD COLUMN approval_for TEXT;
ALTER TABLE receipts ADD COLUMN approval_reason TEXT;

-- Who did it, where the journal tells.
ALTER TABLE events ADD COLUMN by_id TEXT;

-- A third thing to be told of: that somebody overrode a call.
CREATE TABLE notices_anew (
    id          TEXT   NOT NULL PRIMARY KEY,
    addressee   TEXT   NOT NULL,
    channel     TEXT   NOT NULL CHECK (channel IN ('mail', 'push', 'webhook')),
    target      TEXT   NOT NULL,
    kind        TEXT   NOT NULL CHECK (kind IN ('waiting', 'test', 'overridden')),
    created_at  BIGINT NOT NULL,
    due_at      BIGINT NOT NULL,
    tries       BIGINT NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_until BIGINT,
    owes_more   BIGINT NOT NULL DEFAULT 0 CHECK (owes_more IN (0, 1)),
    problem     TEXT,
    outcome     TEXT   CHECK (outcome IN ('sent', 'moot', 'given_up')),
    ended_at    BIGINT,
    CHECK ((outcome IS NULL) = (ended_at IS NULL)),
    CHECK ((lease_owner IS NULL) = (lease_until IS NULL))
);
INSERT INTO notices_anew SELECT id, addressee, channel, target, kind, created_at, due_at, tries, lease_owner, lease_until, owes_more, problem,
    outcome, ended_at FROM notices;
DROP TABLE notices;
ALTER TABLE notices_anew RENAME TO notices;
CREATE UNIQUE INDEX notices_open ON notices (addressee, channel, target, kind) WHERE ended_at IS NULL;
CREATE INDEX notices_due ON notices (channel, tries, due_at, id) WHERE ended_at IS NULL;
CREATE INDEX notices_ended ON notices (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX notices_by_addressee ON notices (addressee, id);

-- Who is owed, or was told, that a call was overridden which they may decide. A notice tells what was owed since it was made.
CREATE TABLE notice_overrides (
    addressee   TEXT   NOT NULL,
    decision_id TEXT   NOT NULL REFERENCES decisions (id),
    owed_at     BIGINT NOT NULL,
    PRIMARY KEY (addressee, decision_id)
);
CREATE INDEX notice_overrides_by_decision ON notice_overrides (decision_id);
