-- Passkeys (WebAuthn level 3) as the second factor of whoever has one.
CREATE TABLE passkeys (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id),
  -- Base64url, as browsers send it: at most 1,023 bytes.
  credential_id text NOT NULL UNIQUE CHECK (char_length(credential_id) BETWEEN 1 AND 1364),
  -- COSE_Key (RFC 9052, section 7).
  public_key bytea NOT NULL,
  -- How often the authenticator says that it has signed; 0 for those that do not count.
  counter bigint NOT NULL CHECK (counter >= 0),
  backup_eligible boolean NOT NULL,
  transports text[] NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 60),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX passkeys_of_user ON passkeys (user_id, created_at);

-- 120 random bits each; one that is used is deleted.
CREATE TABLE recovery_codes (
  user_id uuid NOT NULL REFERENCES users (id),
  code_sha256 bytea NOT NULL CHECK (length(code_sha256) = 32),
  PRIMARY KEY (user_id, code_sha256)
);

-- What an authenticator is to sign next for a session; looking at it takes it away.
CREATE TABLE passkey_challenges (
  session_id uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  purpose text NOT NULL CHECK (purpose IN ('add', 'show')),
  challenge text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (session_id, purpose)
);

-- `factor_due`: begun by a mailed link, it opens nothing until the second factor was shown. `passkey_at`: when a passkey was last shown in it.
ALTER TABLE sessions
  ADD COLUMN factor_due boolean NOT NULL DEFAULT false,
  ADD COLUMN passkey_at timestamptz;

-- Whether who changes what is live by a session must just have shown a passkey.
ALTER TABLE partners ADD COLUMN passkey_for_live boolean NOT NULL DEFAULT false;
