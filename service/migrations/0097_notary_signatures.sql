-- Older nodes: go on.
-- A notary's signature in the page: the revision that waits for it, and then holds it until the notary has confirmed the report.
CREATE TABLE notary_signatures (
  task_id bigint NOT NULL REFERENCES tasks (id),
  notary_id uuid NOT NULL REFERENCES notaries (id),
  given_sha256 text NOT NULL CHECK (given_sha256 ~ '^[0-9a-f]{64}$'),
  act_sha256 text NOT NULL CHECK (act_sha256 ~ '^[0-9a-f]{64}$'),
  -- DER of the certificate; the chain is the registered one.
  certificate bytea NOT NULL,
  tail bytea NOT NULL CHECK (octet_length(tail) <= 4194304),
  -- Where in the tail the signature's value goes, with its brackets.
  contents_start int NOT NULL CHECK (contents_start > 0),
  contents_end int NOT NULL,
  signed_attrs bytea NOT NULL,
  is_signed boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (task_id, notary_id),
  CHECK (contents_end > contents_start)
);
CREATE INDEX notary_signatures_oldest ON notary_signatures (created_at);
