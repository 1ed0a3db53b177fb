-- Sessions of agents that have read what nobody vouches for. There is no way back within a session.
CREATE TABLE session_taints (
    agent_id   TEXT   NOT NULL REFERENCES agents (id),
    session    TEXT   NOT NULL,
    tainted_at BIGINT NOT NULL,
    PRIMARY KEY (agent_id, session)
);
