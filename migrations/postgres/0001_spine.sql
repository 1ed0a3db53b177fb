-- Ids sort byte by byte (COLLATE "C"), as they are paged by; the database's own collation may order otherwise.
-- Times are microseconds since 1970; lists are JSON arrays; ids are TypeIDs. Sealed columns hold ciphertext only.

CREATE TABLE persons (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    email         TEXT   NOT NULL UNIQUE,
    name          TEXT   NOT NULL,
    password_hash TEXT,
    created_at    BIGINT NOT NULL,
    disabled_at   BIGINT
);

CREATE TABLE person_roles (
    person_id TEXT NOT NULL REFERENCES persons (id),
    role      TEXT NOT NULL CHECK (role IN ('member', 'approver', 'operator', 'admin')),
    PRIMARY KEY (person_id, role)
);

CREATE TABLE group_members (
    group_name TEXT NOT NULL,
    person_id  TEXT NOT NULL REFERENCES persons (id),
    PRIMARY KEY (group_name, person_id)
);
CREATE INDEX group_members_by_person ON group_members (person_id);

CREATE TABLE tenants (
    id         TEXT   NOT NULL PRIMARY KEY,
    name       TEXT   NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);

CREATE TABLE tenant_members (
    tenant_id TEXT NOT NULL REFERENCES tenants (id),
    person_id TEXT NOT NULL REFERENCES persons (id),
    PRIMARY KEY (tenant_id, person_id)
);

CREATE TABLE agents (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    owner_id   TEXT   NOT NULL REFERENCES persons (id),
    name       TEXT   NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

-- An agent's keys and a person's tokens. Only a hash is stored.
CREATE TABLE keys (
    id                TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    agent_id          TEXT   REFERENCES agents (id),
    person_id         TEXT   NOT NULL REFERENCES persons (id),
    hash              BYTEA NOT NULL UNIQUE,
    abilities         TEXT   NOT NULL,
    requires_approval BIGINT NOT NULL DEFAULT 0 CHECK (requires_approval IN (0, 1)),
    toolset           TEXT,
    session           TEXT,
    created_at        BIGINT NOT NULL,
    expires_at        BIGINT,
    last_used_at      BIGINT,
    revoked_at        BIGINT
);
CREATE INDEX keys_by_agent ON keys (agent_id);
CREATE INDEX keys_by_person ON keys (person_id);

-- What a person is called in a list of approvers.
CREATE VIEW person_subjects (person_id, subject) AS
    SELECT id, 'id:' || id FROM persons WHERE disabled_at IS NULL
    UNION ALL
    SELECT id, 'person:' || email FROM persons WHERE disabled_at IS NULL
    UNION ALL
    SELECT r.person_id, 'role:' || r.role FROM person_roles r JOIN persons p ON p.id = r.person_id WHERE p.disabled_at IS NULL
    UNION ALL
    SELECT g.person_id, 'group:' || g.group_name FROM group_members g JOIN persons p ON p.id = g.person_id WHERE p.disabled_at IS NULL;

CREATE TABLE calls (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    state           TEXT   NOT NULL CHECK (state IN ('queued', 'held', 'approved', 'sending', 'running', 'done', 'refused', 'declined', 'expired', 'withdrawn', 'failed', 'in_doubt')),
    action          TEXT   NOT NULL,
    title           TEXT   NOT NULL,
    effect          TEXT   NOT NULL CHECK (effect IN ('read', 'write', 'external', 'destructive')),
    surface         TEXT   NOT NULL CHECK (surface IN ('api', 'mcp', 'form', 'queue', 'fetch', 'via', 'code')),
    person_id       TEXT   REFERENCES persons (id),
    agent_id        TEXT   REFERENCES agents (id),
    key_id          TEXT   REFERENCES keys (id),
    session         TEXT,
    tenant          TEXT,
    self_approval   BIGINT NOT NULL DEFAULT 1 CHECK (self_approval IN (0, 1)),
    quorum          BIGINT NOT NULL DEFAULT 1 CHECK (quorum >= 1),
    created_at      BIGINT NOT NULL,
    expires_at      BIGINT,
    decided_at      BIGINT,
    send_at         BIGINT,
    ended_at        BIGINT,
    settled_at      BIGINT,
    lease_until     BIGINT,
    lease_owner     TEXT,
    input_hash      BYTEA NOT NULL,
    claim_slot      BYTEA,
    claim_hash      BYTEA,
    input           BYTEA,
    preview         BYTEA,
    preview_version TEXT,
    fingerprint     BYTEA,
    result          BYTEA,
    delivered_at    BIGINT,
    erase_at        BIGINT,
    problem         TEXT,
    decline_reason  TEXT,
    upstream_status BIGINT,
    receipt_id      TEXT,
    attempts        TEXT   NOT NULL DEFAULT '[]',
    CHECK (state NOT IN ('held', 'approved', 'sending', 'queued') OR input IS NOT NULL),
    CHECK (state <> 'held' OR (preview IS NOT NULL AND preview_version IS NOT NULL AND expires_at IS NOT NULL)),
    CHECK (state <> 'approved' OR send_at IS NOT NULL),
    CHECK (state <> 'sending' OR (lease_until IS NOT NULL AND lease_owner IS NOT NULL)),
    CHECK (state NOT IN ('done', 'refused', 'declined', 'expired', 'withdrawn', 'failed') OR (ended_at IS NOT NULL AND input IS NULL AND preview IS NULL))
);
CREATE INDEX calls_held ON calls (id) WHERE state = 'held';
CREATE INDEX calls_lapsing ON calls (expires_at) WHERE state = 'held';
CREATE INDEX calls_approved ON calls (send_at) WHERE state = 'approved';
CREATE INDEX calls_sending ON calls (lease_until) WHERE state = 'sending';
CREATE INDEX calls_erase ON calls (erase_at) WHERE erase_at IS NOT NULL;
CREATE INDEX calls_by_person ON calls (person_id, id);
CREATE INDEX calls_by_key ON calls (key_id, state);
CREATE INDEX calls_by_agent ON calls (agent_id, state);
CREATE INDEX calls_alike ON calls (input_hash, action);

-- Who may decide a call, by the subjects of the view above.
CREATE TABLE call_approvers (
    call_id TEXT NOT NULL REFERENCES calls (id),
    subject TEXT NOT NULL,
    PRIMARY KEY (call_id, subject)
);
CREATE INDEX call_approvers_by_subject ON call_approvers (subject, call_id);

-- What people said. A decision is never changed; a preview that changed voids it.
CREATE TABLE decisions (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    call_id         TEXT   NOT NULL REFERENCES calls (id),
    person_id       TEXT   NOT NULL REFERENCES persons (id),
    verdict         TEXT   NOT NULL CHECK (verdict IN ('confirm', 'decline')),
    preview_version TEXT,
    reason          TEXT,
    at              BIGINT NOT NULL,
    voided_at       BIGINT
);
CREATE UNIQUE INDEX decisions_once ON decisions (call_id, person_id) WHERE voided_at IS NULL;

-- A prompt that the caller itself confirms with a token. Only the token's hash is stored.
CREATE TABLE prompts (
    hash        BYTEA NOT NULL PRIMARY KEY,
    caller      TEXT   NOT NULL,
    action      TEXT   NOT NULL,
    input_hash  BYTEA NOT NULL,
    fingerprint BYTEA NOT NULL,
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    used_at     BIGINT,
    rejected_at BIGINT
);

CREATE INDEX prompts_expiry ON prompts (expires_at);

-- Idempotency keys: the slot is a hash of scope and key. The lease of a claim is the lease of its call.
CREATE TABLE claims (
    slot         BYTEA NOT NULL PRIMARY KEY,
    request_hash BYTEA NOT NULL,
    call_id      TEXT   NOT NULL REFERENCES calls (id),
    created_at   BIGINT NOT NULL,
    answer       BYTEA,
    erase_at     BIGINT,
    forgotten_at BIGINT
);
CREATE INDEX claims_erase ON claims (erase_at) WHERE erase_at IS NOT NULL;

CREATE TABLE receipts (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    at              BIGINT NOT NULL,
    call_id         TEXT   NOT NULL UNIQUE,
    person_id       TEXT,
    agent_id        TEXT,
    session         TEXT,
    credential      TEXT,
    action          TEXT   NOT NULL,
    surface         TEXT   NOT NULL,
    method          TEXT   NOT NULL,
    url             TEXT   NOT NULL,
    host            TEXT   NOT NULL,
    body_size       BIGINT NOT NULL,
    body_sha256     TEXT   NOT NULL,
    approval_id     TEXT,
    approval_kind   TEXT   NOT NULL CHECK (approval_kind IN ('person', 'confirm_token', 'grant', 'override', 'none')),
    approval_by     TEXT   NOT NULL,
    approval_at     BIGINT,
    upstream_status BIGINT,
    outcome         TEXT   NOT NULL CHECK (outcome IN ('done', 'in_doubt'))
);
CREATE INDEX receipts_by_person ON receipts (person_id, id);
CREATE INDEX receipts_by_agent ON receipts (agent_id, id);
CREATE INDEX receipts_by_host ON receipts (host, id);
CREATE INDEX receipts_by_action ON receipts (action, id);

-- What became known of a receipt later: an answer that came late, or what a person found. The newest row counts.
CREATE TABLE receipt_amendments (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    receipt_id      TEXT   NOT NULL REFERENCES receipts (id),
    at              BIGINT NOT NULL,
    outcome         TEXT   NOT NULL CHECK (outcome IN ('done', 'settled_happened', 'settled_did_not_happen')),
    upstream_status BIGINT,
    person_id       TEXT,
    reason          TEXT
);
CREATE INDEX receipt_amendments_by_receipt ON receipt_amendments (receipt_id, id);

CREATE TABLE events (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    at              BIGINT NOT NULL,
    type            TEXT   NOT NULL,
    call_id         TEXT   NOT NULL,
    action          TEXT   NOT NULL,
    surface         TEXT   NOT NULL,
    person_id       TEXT,
    agent_id        TEXT,
    session         TEXT,
    status          TEXT   NOT NULL,
    upstream_status BIGINT,
    receipt_id      TEXT
);
CREATE INDEX events_by_person ON events (person_id, id);

-- Browser sessions, by a hash of their id.
CREATE TABLE sessions (
    hash       BYTEA NOT NULL PRIMARY KEY,
    data       BYTEA NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Secrets of credentials that are kept here and not in the environment.
CREATE TABLE credential_secrets (
    name   TEXT   NOT NULL PRIMARY KEY,
    secret BYTEA NOT NULL,
    set_at BIGINT NOT NULL
);

-- Append-only, whoever holds the connection.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% are append-only', TG_TABLE_NAME;
END
$$;
CREATE TRIGGER receipts_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON receipts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER receipt_amendments_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON receipt_amendments FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
