-- Older nodes: go on.
-- The retention plan looks up which versions of archived templates anything still needs.
CREATE INDEX bulks_of_version ON bulks (template_id, version);
CREATE INDEX fill_documents_of_version ON fill_documents (template_id, template_version) WHERE used_at IS NULL;
CREATE INDEX template_versions_of_blob ON template_versions (blob_key);
