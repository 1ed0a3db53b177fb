-- The durable queue: what waits in it, whose it is, and reads whose process answers for them no more.
CREATE INDEX calls_queued ON calls (id) WHERE state = 'queued';
CREATE INDEX calls_queued_by_caller ON calls (agent_id, person_id) WHERE state = 'queued';
CREATE INDEX calls_running ON calls (lease_until) WHERE state = 'running';
DROP INDEX calls_by_key;
CREATE INDEX calls_by_key ON calls (key_id) WHERE state IN ('held', 'approved', 'queued');

-- The order in which the journal is streamed. Ids of several nodes do not become visible in their order, so an event is
-- given its place only after its own transaction has ended: a place never comes in before one that was read.
CREATE TABLE events_unplaced (
    event_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES events (id)
);
CREATE TABLE event_places (
    place    BIGINT NOT NULL PRIMARY KEY,
    event_id TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES events (id)
);
INSERT INTO event_places (place, event_id) SELECT ROW_NUMBER() OVER (ORDER BY id), id FROM events;
