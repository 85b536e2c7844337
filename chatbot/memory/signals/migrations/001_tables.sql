-- Events, their tellings and their signals. Can be run again. {vector}: type of a vector with its dimension; {norm}: its norm; {operators}: cosine.

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
    created_at timestamptz NOT NULL DEFAULT now(),
    assets_folded text[] GENERATED ALWAYS AS (signal_assets(assets)) STORED,
    UNIQUE (news_event_id, analyser)
);
CREATE INDEX IF NOT EXISTS ai_signals_event ON ai_signals (news_event_id, confidence);
CREATE INDEX IF NOT EXISTS ai_signals_assets ON ai_signals USING gin (assets_folded);
