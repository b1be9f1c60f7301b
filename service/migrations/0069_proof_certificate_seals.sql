-- A proof certificate has no time stamp of its own: once the seal's certificate ends or is retired, nothing shows that it was sealed
-- before. Under another certificate of the seal another one is made. Those of before name none, and are followed by one that does.
ALTER TABLE proof_certificates ADD COLUMN seal_chain text NOT NULL DEFAULT '';
ALTER TABLE proof_certificates ALTER COLUMN seal_chain DROP DEFAULT;
ALTER TABLE proof_certificates DROP CONSTRAINT proof_certificates_passport_id_names_firm_document_kept_sea_key;
ALTER TABLE proof_certificates ADD UNIQUE (passport_id, names_firm, document_kept, seal_retired, seal_chain);
