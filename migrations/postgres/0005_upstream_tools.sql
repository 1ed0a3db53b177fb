-- MCP servers whose tools are actions, and what of their tools was taken. A server has a row once it has told its tools.
CREATE TABLE upstreams (
    name     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    dialect  TEXT COLLATE "C" NOT NULL,
    taken_at BIGINT NOT NULL
);

-- taken: the definition that counts, as canonical JSON; hash: its SHA-256. found: the one that waits for an operator.
CREATE TABLE upstream_tools (
    upstream   TEXT COLLATE "C" NOT NULL REFERENCES upstreams (name),
    tool       TEXT COLLATE "C" NOT NULL,
    taken      TEXT COLLATE "C",
    hash       TEXT COLLATE "C",
    taken_at   BIGINT,
    found      TEXT COLLATE "C",
    found_hash TEXT COLLATE "C",
    found_at   BIGINT,
    gone_at    BIGINT,
    PRIMARY KEY (upstream, tool),
    CHECK ((taken IS NULL) = (hash IS NULL) AND (taken IS NULL) = (taken_at IS NULL)),
    CHECK ((found IS NULL) = (found_hash IS NULL) AND (found IS NULL) = (found_at IS NULL)),
    CHECK (taken IS NOT NULL OR found IS NOT NULL)
);
