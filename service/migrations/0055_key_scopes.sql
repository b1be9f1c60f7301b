-- Keys have a name, may be restricted to scopes and expire, and say who issued them, which one they replace and where they were
-- last used. A row that opens its firm bears a MAC of what it opens; revoking takes it away, so that a revocation that is undone in
-- the database opens nothing. Keys of before get theirs at the next start (`partner keys` of `row_mac_backfill`).
ALTER TABLE partner_keys
  ADD COLUMN name text CHECK (char_length(name) BETWEEN 1 AND 100),
  ADD COLUMN scopes text[] CHECK (cardinality(scopes) > 0),
  ADD COLUMN expires_at timestamptz,
  -- The member who issued it; null where the operator did.
  ADD COLUMN issued_by uuid REFERENCES users (id),
  ADD COLUMN replaces uuid UNIQUE REFERENCES partner_keys (id),
  -- The network of the last caller: 24 bits of an IPv4 address, 48 of an IPv6 one.
  ADD COLUMN last_used_from text,
  ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
