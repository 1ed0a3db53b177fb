-- What a person's own page shows and changes. The epoch counts how often everything that was signed in has been ended:
-- a session of an earlier one is worth nothing, also when it is written after the end by a sign-in that began before.
ALTER TABLE persons ADD COLUMN time_zone TEXT;
ALTER TABLE persons ADD COLUMN signed_in_at BIGINT;
ALTER TABLE persons ADD COLUMN sign_in_epoch BIGINT NOT NULL DEFAULT 0;

-- Browser sessions with whose they are. Those from before are ended: that stood sealed in them, so everybody signs in anew.
DROP TABLE sessions;
CREATE TABLE sessions (
    hash       BYTEA  NOT NULL PRIMARY KEY,
    id         TEXT   NOT NULL UNIQUE,
    person_id  TEXT   NOT NULL REFERENCES persons (id),
    epoch      BIGINT NOT NULL,
    data       BYTEA  NOT NULL,
    browser    TEXT   NOT NULL,
    begun_at   BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    ends_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX sessions_by_person ON sessions (person_id);

-- Tries to sign in that failed, by a digest of an account or an address: until when they are remembered, and from when
-- on the next one is taken.
CREATE TABLE sign_in_tries (
    subject    BYTEA  NOT NULL PRIMARY KEY,
    owed_until BIGINT NOT NULL,
    free_at    BIGINT NOT NULL
);
CREATE INDEX sign_in_tries_age ON sign_in_tries (owed_until);

-- From where people have signed in: a digest of person and address.
CREATE TABLE sign_in_places (
    place   BYTEA  NOT NULL PRIMARY KEY,
    seen_at BIGINT NOT NULL
);
CREATE INDEX sign_in_places_age ON sign_in_places (seen_at);
