-- Events, their tellings, their signals and the search. Can be run again. {vector}: type of a vector with its dimension; {argument}: without it;
-- {norm}: its norm; {operators}: cosine.

CREATE TABLE IF NOT EXISTS signal_store (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    version integer NOT NULL DEFAULT 0,
    embedder text NOT NULL DEFAULT '',
    dimension integer NOT NULL DEFAULT 0
);
INSERT INTO signal_store DEFAULT VALUES ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS news_events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source text NOT NULL,
    source_message_id text NOT NULL,
    content_text text NOT NULL,
    content_hash text NOT NULL UNIQUE,
    published_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    keywords text[] NOT NULL DEFAULT '{{}}',
    -- By its vector, by keywords where the embedder does not know its script, not yet, or not at all (no words).
    found_by text NOT NULL DEFAULT 'pending' CHECK (found_by IN ('pending', 'vector', 'keywords', 'nothing')),
    UNIQUE (source, source_message_id)
);
-- A zero vector has no direction: its similarity to anything is NaN, which sorts before every number. NaN itself is refused by the type.
ALTER TABLE news_events ADD COLUMN IF NOT EXISTS embedding {vector} CHECK (embedding IS NULL OR {norm}(embedding) > 0);
CREATE INDEX IF NOT EXISTS news_events_published_at ON news_events (published_at);
CREATE INDEX IF NOT EXISTS news_events_embedding ON news_events USING hnsw (embedding {operators});

-- One text told several times is one event; every telling is kept.
CREATE TABLE IF NOT EXISTS news_sources (
    source text NOT NULL,
    source_message_id text NOT NULL,
    news_event_id bigint NOT NULL REFERENCES news_events ON DELETE CASCADE,
    link text NOT NULL DEFAULT '',
    published_at timestamptz NOT NULL,
    PRIMARY KEY (source, source_message_id)
);
CREATE INDEX IF NOT EXISTS news_sources_event ON news_sources (news_event_id, published_at);

-- Names of assets are compared in upper case, whoever wrote them.
CREATE OR REPLACE FUNCTION signal_assets(assets text[]) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT upper(trim(asset))), '{{}}') FROM unnest(assets) AS asset
$$;

CREATE TABLE IF NOT EXISTS ai_signals (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    news_event_id bigint NOT NULL REFERENCES news_events ON DELETE CASCADE,
    summary text NOT NULL,
    assets text[] NOT NULL DEFAULT '{{}}',
    action text NOT NULL CHECK (action IN ('buy', 'sell', 'observe')),
    -- NaN is larger than any number to Postgres, so it is refused too.
    confidence double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    analyser text NOT NULL,
    summary_cn text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    assets_folded text[] GENERATED ALWAYS AS (signal_assets(assets)) STORED,
    UNIQUE (news_event_id, analyser)
);
CREATE INDEX IF NOT EXISTS ai_signals_event ON ai_signals (news_event_id, confidence);
CREATE INDEX IF NOT EXISTS ai_signals_assets ON ai_signals USING gin (assets_folded);

CREATE INDEX IF NOT EXISTS news_events_pending ON news_events (id) WHERE found_by = 'pending';
-- What lost its vector, with the extension or by hand, waits for a new one.
UPDATE news_events SET found_by = 'pending' WHERE found_by = 'vector' AND embedding IS NULL;
UPDATE news_events SET found_by = 'vector' WHERE found_by <> 'vector' AND embedding IS NOT NULL;

-- Texts of events that somebody removed: the next import of the same file must not bring them back.
CREATE TABLE IF NOT EXISTS removed_news (
    content_hash text PRIMARY KEY,
    removed_at timestamptz NOT NULL DEFAULT now()
);

-- Nearest events first, each with its best signal; NULL where none qualifies. Walks the HNSW index as far as it has to: the caller stops it.
-- Where time or asset leave few events, those are compared one by one: exact, and quicker than walking past all others. So are all, where the walk was
-- so long that comparing is quicker: left to itself pgvector ends a walk after hnsw.max_scan_tuples, or when its memory is full, and says nothing.
CREATE OR REPLACE FUNCTION nearest_signals(
    query_embedding {argument},
    match_threshold double precision,
    match_count integer,
    min_confidence double precision,
    time_window_hours integer,
    asset_filter text[],
    as_of timestamptz
) RETURNS TABLE (event_id bigint, similarity double precision, signal_id bigint, confidence double precision, published_at timestamptz)
LANGUAGE plpgsql STABLE
SET hnsw.iterative_scan = strict_order
SET hnsw.ef_search = 150
SET hnsw.max_scan_tuples = 2147483647
SET hnsw.scan_mem_multiplier = 100
SET plan_cache_mode = force_custom_plan
SET enable_sort = off -- the walk is stopped early, which the planner cannot know: it would sort everything
AS $$
DECLARE
    few CONSTANT integer := 2000;
    most_walked CONSTANT integer := 5000;
    wanted text[] := nullif(signal_assets(asset_filter), '{{}}');
    since timestamptz := as_of - make_interval(hours => time_window_hours);
    events bigint[];
    found integer := 0;
    walked integer := 0;
    last double precision;
    near bigint[] := '{{}}';
BEGIN
    IF query_embedding IS NULL OR NOT {norm}(query_embedding) > 0 THEN
        RAISE EXCEPTION 'a query embedding of length zero is like nothing' USING ERRCODE = 'data_exception';
    END IF;
    events := ARRAY(SELECT e.id FROM news_events e WHERE e.published_at BETWEEN since AND as_of LIMIT few);
    IF cardinality(events) = few AND wanted IS NOT NULL THEN
        events := ARRAY(SELECT g.news_event_id FROM ai_signals g WHERE g.assets_folded && wanted LIMIT few);
    END IF;
    IF cardinality(events) >= few THEN
        FOR event_id, similarity, signal_id, confidence, published_at IN
            -- begin: nearest
            SELECT e.id, 1 - (e.embedding <=> query_embedding), s.id, s.confidence, e.published_at
            FROM news_events e LEFT JOIN LATERAL (
                SELECT g.id, g.confidence FROM ai_signals g
                WHERE g.news_event_id = e.id AND g.confidence >= min_confidence AND (wanted IS NULL OR g.assets_folded && wanted)
                ORDER BY g.confidence DESC, g.id DESC LIMIT 1
            ) AS s ON e.published_at BETWEEN since AND as_of
            WHERE e.embedding IS NOT NULL
            ORDER BY e.embedding <=> query_embedding
            -- end: nearest
        LOOP
            IF similarity < match_threshold OR (found >= match_count AND similarity < last) THEN
                RETURN;
            END IF;
            walked := walked + 1;
            EXIT WHEN walked > most_walked;
            CONTINUE WHEN signal_id IS NULL;
            RETURN NEXT;
            near := near || event_id;
            found := found + 1;
            last := similarity;
        END LOOP;
        events := NULL;
    END IF;
    RETURN QUERY
        SELECT e.id, 1 - (e.embedding <=> query_embedding), s.id, s.confidence, e.published_at
        FROM news_events e CROSS JOIN LATERAL (
            SELECT g.id, g.confidence FROM ai_signals g
            WHERE g.news_event_id = e.id AND g.confidence >= min_confidence AND (wanted IS NULL OR g.assets_folded && wanted)
            ORDER BY g.confidence DESC, g.id DESC LIMIT 1
        ) AS s
        WHERE (events IS NULL OR e.id = ANY (events)) AND e.id <> ALL (near) AND e.embedding IS NOT NULL AND e.published_at BETWEEN since AND as_of
            AND 1 - (e.embedding <=> query_embedding) >= match_threshold;
END
$$;

-- Signals like the question: threshold and confidence at least these, news of the hours before as_of by the time of publishing, one row an event.
CREATE OR REPLACE FUNCTION search_memory_events(
    query_embedding {argument},
    match_threshold double precision,
    match_count integer,
    min_confidence double precision,
    time_window_hours integer,
    asset_filter text[] DEFAULT NULL,
    as_of timestamptz DEFAULT now()
) RETURNS TABLE (
    news_event_id bigint, similarity double precision, content_text text, published_at timestamptz, source text, link text,
    summary text, assets text[], action text, confidence double precision, analyser text, created_at timestamptz
) LANGUAGE sql STABLE AS $$
    SELECT n.event_id, n.similarity, e.content_text, e.published_at, coalesce(t.source, e.source), coalesce(t.link, ''), s.summary, s.assets, s.action, s.confidence, s.analyser, s.created_at
    FROM nearest_signals(query_embedding, match_threshold, match_count, min_confidence, time_window_hours, asset_filter, as_of) AS n
        JOIN news_events e ON e.id = n.event_id
        JOIN ai_signals s ON s.id = n.signal_id
        LEFT JOIN LATERAL (
            SELECT o.source, o.link FROM news_sources o WHERE o.news_event_id = e.id ORDER BY o.published_at, o.source, o.source_message_id LIMIT 1
        ) AS t ON true
    ORDER BY n.similarity DESC, n.confidence DESC, n.published_at DESC, n.event_id DESC
    LIMIT match_count
$$;

