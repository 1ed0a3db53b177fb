-- Passkeys: what a browser or a key signs with in somebody's name, by the public half alone. rp: the name they were made for.
-- passkey: as `webauthn-rs` writes it, with the public half. counter: how many signatures it said it had made when it last
-- answered; 0: it has not, or does not count.
CREATE TABLE passkeys (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    person_id  TEXT COLLATE "C" NOT NULL REFERENCES persons (id),
    credential BYTEA  NOT NULL UNIQUE,
    passkey    TEXT COLLATE "C" NOT NULL,
    counter    BIGINT NOT NULL,
    rp         TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    used_at    BIGINT
);
CREATE INDEX passkeys_by_person ON passkeys (person_id, id);

-- What a passkey is asked to sign, by a digest, and what for: taken away with what it was good for. Of a sign-in, of which
-- anybody may ask for as many as they like, it stands here only once it was used.
CREATE TABLE passkey_challenges (
    hash            BYTEA  NOT NULL PRIMARY KEY,
    purpose         TEXT COLLATE "C" NOT NULL CHECK (purpose IN ('sign_in', 'add', 'prove', 'confirm')),
    person_id       TEXT COLLATE "C" REFERENCES persons (id),
    session         BYTEA,
    call_id         TEXT COLLATE "C",
    preview_version TEXT COLLATE "C",
    made_at         BIGINT NOT NULL
);
CREATE INDEX passkey_challenges_age ON passkey_challenges (made_at);
CREATE INDEX passkey_challenges_by_person ON passkey_challenges (person_id, made_at);

-- What happened to somebody's account: append-only.
CREATE TABLE account_events (
    id        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    at        BIGINT NOT NULL,
    person_id TEXT COLLATE "C" NOT NULL REFERENCES persons (id),
    type      TEXT COLLATE "C" NOT NULL,
    about     TEXT COLLATE "C"
);
CREATE INDEX account_events_by_person ON account_events (person_id, id);

-- A call that is confirmed with a passkey alone, and the passkey that it was confirmed with.
ALTER TABLE calls ADD COLUMN step_up BIGINT NOT NULL DEFAULT 0 CHECK (step_up IN (0, 1));
ALTER TABLE decisions ADD COLUMN passkey_id TEXT COLLATE "C";
ALTER TABLE events ADD COLUMN proof TEXT COLLATE "C";

-- When whoever is signed in last proved who they are; NULL: when they signed in. And when a session was replaced by one with
-- another id: what the browser had asked by then is still answered.
ALTER TABLE sessions ADD COLUMN proved_at BIGINT;
ALTER TABLE sessions ADD COLUMN replaced_at BIGINT;

CREATE TRIGGER account_events_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON account_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
