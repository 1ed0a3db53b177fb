-- Journal lines that operators alone are shown: a caller who was told that there is nothing is not told otherwise by
-- its own journal.
CREATE TABLE events_withheld (
    event_id TEXT NOT NULL PRIMARY KEY REFERENCES events (id)
);
