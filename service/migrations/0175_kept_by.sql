-- Older nodes: go on.
-- The member who uploaded a file in a form, so that one member's files can't take all places of the firm. Null for older files.
ALTER TABLE fill_documents ADD COLUMN kept_by uuid;
