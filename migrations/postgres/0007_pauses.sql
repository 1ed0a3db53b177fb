-- Who paused an agent, or everything, when and why. A pause that has ended stays as a line of its history. Without a
-- person it came from the command line.
CREATE TABLE pauses (
    id         TEXT   NOT NULL PRIMARY KEY,
    scope      TEXT   NOT NULL,
    agent_id   TEXT   REFERENCES agents (id),
    as_owner   BIGINT NOT NULL CHECK (as_owner IN (0, 1)),
    person_id  TEXT   REFERENCES persons (id),
    reason     TEXT,
    paused_at  BIGINT NOT NULL,
    resumed_at BIGINT,
    resumed_by TEXT   REFERENCES persons (id),
    CHECK (scope = COALESCE(agent_id, 'everything'))
);
CREATE UNIQUE INDEX pauses_in_force ON pauses (scope) WHERE resumed_at IS NULL;
CREATE INDEX pauses_by_scope ON pauses (scope, id);
