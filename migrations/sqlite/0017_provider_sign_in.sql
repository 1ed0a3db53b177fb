-- Who a person is at a sign-in provider. A person is linked to one subject of an issuer, and a subject to one person.
CREATE TABLE person_identities (
    issuer    TEXT   NOT NULL,
    subject   TEXT   NOT NULL,
    person_id TEXT   NOT NULL REFERENCES persons (id),
    linked_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject),
    UNIQUE (person_id, issuer)
);

-- What signing in by a provider changed of an account: names of groups and ids only.
CREATE TABLE identity_events (
    id        TEXT   NOT NULL PRIMARY KEY,
    at        BIGINT NOT NULL,
    person_id TEXT   NOT NULL REFERENCES persons (id),
    kind      TEXT   NOT NULL CHECK (kind IN ('linked', 'joined', 'provisioned', 'groups', 'unlinked')),
    issuer    TEXT   NOT NULL,
    joined    TEXT   NOT NULL,
    parted    TEXT   NOT NULL
);
CREATE INDEX identity_events_by_person ON identity_events (person_id, id);

-- Sign-ins that came back from a provider, by a digest of their state: none comes back twice.
CREATE TABLE sign_in_returns (
    state   BLOB   NOT NULL PRIMARY KEY,
    came_at BIGINT NOT NULL
);
CREATE INDEX sign_in_returns_age ON sign_in_returns (came_at);

CREATE TRIGGER identity_events_no_update BEFORE UPDATE ON identity_events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER identity_events_no_delete BEFORE DELETE ON identity_events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
