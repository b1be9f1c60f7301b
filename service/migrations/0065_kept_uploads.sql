-- Whose refused form a waiting document came with: of these a firm has a few at a time. Null for one that was completed online.
ALTER TABLE fill_documents ADD COLUMN kept_for uuid REFERENCES partners (id);
CREATE INDEX fill_documents_kept ON fill_documents (kept_for, expires_at) WHERE kept_for IS NOT NULL AND used_at IS NULL;
