-- The title of a preview, sealed by itself, so that a list does not open every whole preview. Erased with it.
ALTER TABLE calls ADD COLUMN preview_title BYTEA
    CHECK (preview_title IS NULL OR state NOT IN ('done', 'refused', 'declined', 'expired', 'withdrawn', 'failed'));

-- What an agent asked for before, in the same session.
CREATE INDEX calls_by_session ON calls (agent_id, session, id);
