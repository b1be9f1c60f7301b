-- Older nodes: go on.
-- Forms of catalog documents: templates of the operator, which belong to no firm. Every firm can have them filled in
-- online.
ALTER TABLE templates
  ALTER COLUMN partner_id DROP NOT NULL,
  ADD COLUMN catalog_slug text CHECK (char_length(catalog_slug) BETWEEN 1 AND 100),
  ADD CHECK ((partner_id IS NULL) = (catalog_slug IS NOT NULL));
CREATE UNIQUE INDEX templates_of_catalog ON templates (environment, catalog_slug) WHERE partner_id IS NULL;
