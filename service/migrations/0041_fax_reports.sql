-- What a fax machine printed about a fax that a person sent.
ALTER TABLE documents DROP CONSTRAINT documents_kind_check;
ALTER TABLE documents ADD CONSTRAINT documents_kind_check
  CHECK (kind IN ('original', 'revision', 'sealed', 'notarized', 'custody_certificate', 'fax_report'));
