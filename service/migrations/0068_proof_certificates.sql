-- Proof certificates as they were first sealed: whoever asks again gets the same bytes. A blob decrypts only as the certificate of its
-- row, so no MAC is asked of the row.
CREATE TABLE proof_certificates (
  blob_key text PRIMARY KEY,
  passport_id uuid NOT NULL REFERENCES passports (id),
  -- Whether it is the owner's, which names the firm.
  names_firm boolean NOT NULL,
  -- Whether it speaks of the stored PDF, with which it is deleted.
  document_kept boolean NOT NULL,
  seal_retired boolean NOT NULL,
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  created_at timestamptz NOT NULL,
  UNIQUE (passport_id, names_firm, document_kept, seal_retired)
);
CREATE TRIGGER proof_certificates_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON proof_certificates
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
