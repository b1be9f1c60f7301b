-- Older nodes: stop.
-- A rotation of SECRETS_KEY by one of them would leave these rows behind.
-- A device of the firm that goes from signer to signer, in person. One signer has it at a time: the session of the one before is gone.
-- Token and session are credentials: only their hashes are stored.
CREATE TABLE sittings (
  id uuid PRIMARY KEY,
  envelope_id bigint NOT NULL REFERENCES envelopes (id),
  -- The member who handed out the device: the address is in the evidence, and only a present member is a host.
  host_id uuid NOT NULL,
  host text NOT NULL CHECK (char_length(host) BETWEEN 1 AND 300),
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  expires_at timestamptz NOT NULL,
  signer_id bigint REFERENCES envelope_signers (id),
  -- The signer's link at that time: a replaced signer's turn ends with the link.
  link_id uuid,
  session_sha256 bytea UNIQUE CHECK (length(session_sha256) = 32),
  session_expires_at timestamptz,
  -- When the signer passed the step that the order asks for.
  identified_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((signer_id IS NULL) = (session_sha256 IS NULL)),
  CHECK ((session_sha256 IS NULL) = (session_expires_at IS NULL))
);
CREATE INDEX sittings_of_envelope ON sittings (envelope_id);
CREATE INDEX sittings_by_end ON sittings (expires_at);
