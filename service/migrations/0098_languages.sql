-- Older nodes: stop.
-- Signers may also read French, Portuguese, Chinese, Vietnamese, Korean and Tagalog. A node of the release before has no words for these.
ALTER TABLE envelope_signers
  DROP CONSTRAINT envelope_signers_language_check,
  ADD CONSTRAINT envelope_signers_language_check CHECK (language IN ('en', 'es', 'fr', 'pt', 'zh', 'vi', 'ko', 'tl'));
