-- Older nodes: stop.
-- Signing in a notary's presence: older nodes would take these envelopes for withdrawn ones, and end them.
CREATE TABLE envelope_rooms (
  envelope_id bigint PRIMARY KEY REFERENCES envelopes (id),
  -- The field that waits for the notary: its name, object, page and size.
  block jsonb NOT NULL,
  opened_at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36)
);

-- A signer's turn on the notary's device. The token is a credential: only its hash is stored.
CREATE TABLE signer_rooms (
  id uuid PRIMARY KEY,
  signer_id bigint NOT NULL REFERENCES envelope_signers (id),
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  -- False where the notary's step comes before the signature: the signer reads and consents.
  may_sign boolean NOT NULL,
  -- By whom and how the signer was identified, for the record of the act.
  presence text NOT NULL CHECK (char_length(presence) BETWEEN 1 AND 1000),
  opened_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  closed_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE UNIQUE INDEX signer_rooms_open ON signer_rooms (signer_id) WHERE closed_at IS NULL;

-- The PIN that gives the device back to the notary; none where the notary has a passkey and chose no PIN.
ALTER TABLE notary_sheets ADD COLUMN pin_hash text CHECK (char_length(pin_hash) BETWEEN 1 AND 400);

-- The notary's device in a signer's hands. The console's session opens nothing meanwhile.
CREATE TABLE notary_hand_overs (
  id uuid PRIMARY KEY,
  sheet_id uuid NOT NULL REFERENCES notary_sheets (id),
  signer int NOT NULL CHECK (signer BETWEEN 1 AND 10),
  session_id uuid NOT NULL,
  given_at timestamptz NOT NULL,
  failures int NOT NULL DEFAULT 0 CHECK (failures BETWEEN 0 AND 5),
  returned_at timestamptz,
  returned_by text CHECK (returned_by IN ('pin', 'sign_in')),
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((returned_at IS NULL) = (returned_by IS NULL))
);
CREATE UNIQUE INDEX notary_hand_overs_open ON notary_hand_overs (sheet_id) WHERE returned_at IS NULL;
CREATE INDEX notary_hand_overs_of_session ON notary_hand_overs (session_id) WHERE returned_at IS NULL;
