-- Standing grants: what a person let through in advance, more calls like one that they confirmed. scope: what a call has to be
-- like, sealed, erased when the grant ends. pin: a digest of what the catalogue said of the action and its credential.
CREATE TABLE grants (
    id           TEXT   NOT NULL PRIMARY KEY,
    call_id      TEXT   NOT NULL REFERENCES calls (id),
    person_id    TEXT   NOT NULL REFERENCES persons (id),
    agent_id     TEXT   NOT NULL REFERENCES agents (id),
    action       TEXT   NOT NULL,
    title        TEXT   NOT NULL,
    surface      TEXT   NOT NULL,
    credential   TEXT,
    method       TEXT   NOT NULL,
    host         TEXT   NOT NULL,
    pin          BLOB   NOT NULL,
    scope        BLOB,
    uses         BIGINT NOT NULL CHECK (uses BETWEEN 1 AND 100),
    used         BIGINT NOT NULL DEFAULT 0,
    made_at      BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    last_used_at BIGINT,
    ended_at     BIGINT,
    how          TEXT   CHECK (how IN ('used_up', 'lapsed', 'revoked', 'undone', 'grantor', 'agent', 'changed')),
    ended_by     TEXT   REFERENCES persons (id),
    CHECK (used BETWEEN 0 AND uses),
    CHECK ((ended_at IS NULL) = (how IS NULL)),
    CHECK ((ended_at IS NULL) = (scope IS NOT NULL))
);
CREATE INDEX grants_live ON grants (agent_id, action) WHERE ended_at IS NULL;
CREATE INDEX grants_by_person ON grants (person_id, id);
CREATE INDEX grants_by_agent ON grants (agent_id, id);
CREATE INDEX grants_by_call ON grants (call_id);

-- The grant that let a call through.
ALTER TABLE calls ADD COLUMN grant_id TEXT REFERENCES grants (id);
