-- Older nodes: stop.
-- A rotation of SECRETS_KEY by one of them would leave these rows behind.
-- Sites of a firm that may show the signing page in a frame.
CREATE TABLE embed_origins (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  origin text NOT NULL CHECK (char_length(origin) BETWEEN 8 AND 300),
  created_at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (partner_id, environment, origin)
);

-- Signing pages that a firm opened for a signer. Ticket and session are credentials: only their hashes are stored.
CREATE TABLE signer_embeds (
  id uuid PRIMARY KEY,
  signer_id bigint NOT NULL REFERENCES envelope_signers (id),
  -- The signer's link at that time: a replaced signer's page ends with the link.
  link_id uuid NOT NULL,
  origin text NOT NULL CHECK (char_length(origin) BETWEEN 8 AND 300),
  ticket_sha256 bytea NOT NULL UNIQUE CHECK (length(ticket_sha256) = 32),
  ticket_expires_at timestamptz NOT NULL,
  session_sha256 bytea UNIQUE CHECK (length(session_sha256) = 32),
  session_expires_at timestamptz,
  -- When the signer passed the step that the order asks for.
  identified_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((session_sha256 IS NULL) = (session_expires_at IS NULL))
);
CREATE INDEX signer_embeds_of_signer ON signer_embeds (signer_id);
CREATE INDEX signer_embeds_by_end ON signer_embeds ((coalesce(session_expires_at, ticket_expires_at)));
