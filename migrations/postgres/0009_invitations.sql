-- Accounts that an admin offers by a link, and links to make the first admin with. Only a hash of each is stored.
CREATE TABLE invitations (
    id           TEXT   NOT NULL PRIMARY KEY,
    hash         BYTEA  NOT NULL UNIQUE,
    email        TEXT   NOT NULL,
    name         TEXT   NOT NULL,
    roles        TEXT   NOT NULL,
    invited_by   TEXT   NOT NULL REFERENCES persons (id),
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    used_at      BIGINT,
    withdrawn_at BIGINT
);
CREATE INDEX invitations_by_email ON invitations (email);
CREATE INDEX invitations_expiry ON invitations (expires_at);

CREATE TABLE set_up_links (
    hash    BYTEA  NOT NULL PRIMARY KEY,
    made_at BIGINT NOT NULL
);
