-- What a signal says in Chinese, where its analyser gave that. Can be run again.

ALTER TABLE ai_signals ADD COLUMN IF NOT EXISTS summary_cn text NOT NULL DEFAULT '';
