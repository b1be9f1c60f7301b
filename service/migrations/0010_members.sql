-- People who sign in, known by a mail address that they have shown to be theirs. `email` is lowercase.
CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL UNIQUE CHECK (char_length(email) <= 254 AND email = lower(email)),
  created_at timestamptz NOT NULL
);

-- One firm a person: linked once, by a key of the firm.
CREATE TABLE members (
  user_id uuid PRIMARY KEY REFERENCES users (id),
  partner_id uuid NOT NULL REFERENCES partners (id),
  role text NOT NULL CHECK (role IN ('owner', 'member')),
  -- The key that was shown: when it turns out to be stolen, so is the membership.
  key_id uuid REFERENCES partner_keys (id),
  linked_at timestamptz NOT NULL
);
CREATE INDEX members_of_partner ON members (partner_id, linked_at);

-- Links that were mailed and not used yet; using one deletes it. The token is made anew from `id` when it is mailed: no table
-- holds it. `browser_sha256` is of the cookie of the browser that asked. A link without address and browser is the operator's,
-- made at the command line.
CREATE TABLE sign_in_links (
  id uuid PRIMARY KEY,
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  browser_sha256 bytea CHECK (length(browser_sha256) = 32),
  -- Of the network that asked: each may have only so many open links of an address.
  network_sha256 bytea CHECK (length(network_sha256) = 32),
  email text,
  return_to text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CHECK ((email IS NULL) = (browser_sha256 IS NULL))
);
CREATE INDEX sign_in_links_of_email ON sign_in_links (email, network_sha256, expires_at);
CREATE INDEX sign_in_links_expiry ON sign_in_links (expires_at);

-- Ending a session deletes it. Without a user it is the operator's.
CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  user_id uuid REFERENCES users (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  device text NOT NULL,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_of_user ON sessions (user_id, created_at DESC);
CREATE INDEX sessions_expiry ON sessions (expires_at);
