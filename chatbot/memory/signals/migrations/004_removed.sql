-- Fingerprints of the texts of events that somebody removed: the next import of the same file must not bring them back. Can be run again.

CREATE TABLE IF NOT EXISTS removed_news (
    content_hash text PRIMARY KEY,
    removed_at timestamptz NOT NULL DEFAULT now()
);
