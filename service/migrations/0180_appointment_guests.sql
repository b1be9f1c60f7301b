-- Older nodes: go on.
-- People whom the notary expects at an order's appointment besides the signers: witnesses, interpreters and observers. Each
-- has a link of their own. A removed person keeps the row, because a mail tells them.
CREATE TABLE appointment_guests (
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  role text NOT NULL CHECK (role IN ('credible_witness', 'interpreter', 'witness', 'observer')),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  email text NOT NULL CHECK (char_length(email) BETWEEN 1 AND 254),
  language text NOT NULL CHECK (char_length(language) BETWEEN 2 AND 10),
  -- For a credible witness, the number of the signer whom the witness knows.
  for_signer int CHECK (for_signer BETWEEN 1 AND 10),
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  added_at timestamptz NOT NULL,
  removed_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((role = 'credible_witness') = (for_signer IS NOT NULL))
);
CREATE INDEX appointment_guests_of_order ON appointment_guests (order_id, added_at);
