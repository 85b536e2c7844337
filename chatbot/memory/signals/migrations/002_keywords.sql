-- How an event is found: by its vector, by keywords where the embedder does not know its script, not yet, or not at all (no words).

ALTER TABLE news_events ADD COLUMN IF NOT EXISTS keywords text[] NOT NULL DEFAULT '{{}}';
ALTER TABLE news_events ADD COLUMN IF NOT EXISTS found_by text NOT NULL DEFAULT 'pending'
    CHECK (found_by IN ('pending', 'vector', 'keywords', 'nothing'));
CREATE INDEX IF NOT EXISTS news_events_keywords ON news_events USING gin (keywords);
CREATE INDEX IF NOT EXISTS news_events_pending ON news_events (id) WHERE found_by = 'pending';
-- What lost its vector, with the extension or by hand, waits for a new one.
UPDATE news_events SET found_by = 'pending' WHERE found_by = 'vector' AND embedding IS NULL;
UPDATE news_events SET found_by = 'vector' WHERE found_by <> 'vector' AND embedding IS NOT NULL;
