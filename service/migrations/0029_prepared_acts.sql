-- Acts that wait for the signature of a key in the signer's browser: ten minutes, one for a signer.
CREATE TABLE prepared_acts (
  signer_id bigint PRIMARY KEY REFERENCES envelope_signers (id),
  -- As text: a record is hashed as it was written.
  kept json NOT NULL,
  tail bytea NOT NULL,
  signed_attrs bytea NOT NULL,
  chain bytea NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX prepared_acts_oldest ON prepared_acts (created_at);
