-- MCP servers whose tools are actions, and what of their tools was taken. A server has a row once it has told its tools.
CREATE TABLE upstreams (
    name     TEXT NOT NULL PRIMARY KEY,
    dialect  TEXT NOT NULL,
    taken_at BIGINT NOT NULL
);

-- taken: the definition that counts, as canonical JSON; hash: its SHA-256. found: the one that waits for an operator.
CREATE TABLE upstream_tools (
    upstream   TEXT NOT NULL REFERENCES upstreams (name),
    tool       TEXT NOT NULL,
    taken      TEXT,
    hash       TEXT,
    taken_at   BIGINT,
    found      TEXT,
    found_hash TEXT,
    found_at   BIGINT,
    gone_at    BIGINT,
    PRIMARY KEY (upstream, tool),
    CHECK ((taken IS NULL) = (hash IS NULL) AND (taken IS NULL) = (taken_at IS NULL)),
    CHECK ((found IS NULL) = (found_hash IS NULL) AND (found IS NULL) = (found_at IS NULL)),
    CHECK (taken IS NOT NULL OR found IS NOT NULL)
);
