-- How somebody wants to be told. No row: by mail, at any hour. Quiet hours are minutes of the day.
CREATE TABLE notice_choices (
    person_id  TEXT   NOT NULL PRIMARY KEY REFERENCES persons (id),
    mail       BIGINT NOT NULL CHECK (mail IN (0, 1)),
    quiet_from BIGINT CHECK (quiet_from BETWEEN 0 AND 1439),
    quiet_to   BIGINT CHECK (quiet_to BETWEEN 0 AND 1439),
    changed_at BIGINT NOT NULL,
    CHECK ((quiet_from IS NULL) = (quiet_to IS NULL))
);

-- Who was told of which held call, or is being told: a person's id, or webhook:NAME.
CREATE TABLE notice_told (
    addressee TEXT   NOT NULL,
    call_id   TEXT   NOT NULL REFERENCES calls (id),
    told_at   BIGINT NOT NULL,
    PRIMARY KEY (addressee, call_id)
);
CREATE INDEX notice_told_by_call ON notice_told (call_id);

-- The outbox: what is owed to whom, on which way. What it says is written when it is sent. owes_more: a call was owed that whoever
-- sends it may not have read.
CREATE TABLE notices (
    id          TEXT   NOT NULL PRIMARY KEY,
    addressee   TEXT   NOT NULL,
    channel     TEXT   NOT NULL CHECK (channel IN ('mail', 'push', 'webhook')),
    target      TEXT   NOT NULL,
    kind        TEXT   NOT NULL CHECK (kind IN ('waiting', 'test')),
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
CREATE UNIQUE INDEX notices_open ON notices (addressee, channel, target, kind) WHERE ended_at IS NULL;
CREATE INDEX notices_due ON notices (channel, tries, due_at, id) WHERE ended_at IS NULL;
CREATE INDEX notices_ended ON notices (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX notices_by_addressee ON notices (addressee, id);

-- Browsers that are told by web push. data: the endpoint and its keys, sealed.
CREATE TABLE push_subscriptions (
    id            TEXT   NOT NULL PRIMARY KEY,
    person_id     TEXT   NOT NULL REFERENCES persons (id),
    endpoint_hash BLOB   NOT NULL UNIQUE,
    label         TEXT   NOT NULL,
    data          BLOB   NOT NULL,
    created_at    BIGINT NOT NULL
);
CREATE INDEX push_subscriptions_by_person ON push_subscriptions (person_id, id);

-- The key that push services know this desk by (VAPID), sealed.
CREATE TABLE push_keys (
    name    TEXT   NOT NULL PRIMARY KEY,
    secret  BLOB   NOT NULL,
    made_at BIGINT NOT NULL
);
