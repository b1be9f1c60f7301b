-- Invitations to a firm, mailed to an address. The token in the link is made anew from `id` when it is mailed: no table holds it. A
-- row that has ended stays for a while: what was mailed in a day is counted. The rows bear no MAC, as those of `members` bear none:
-- who can write them can write members.
CREATE TABLE invitations (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  email text NOT NULL CHECK (char_length(email) <= 254 AND email = lower(email)),
  role text NOT NULL CHECK (role IN ('owner', 'member')),
  live_access boolean NOT NULL,
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  invited_by uuid NOT NULL REFERENCES users (id),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  outcome text CHECK (outcome IN ('accepted', 'withdrawn', 'replaced')),
  CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
CREATE UNIQUE INDEX invitations_pending ON invitations (partner_id, email) WHERE ended_at IS NULL;
CREATE INDEX invitations_of_partner ON invitations (partner_id, created_at);
CREATE INDEX invitations_expiry ON invitations (expires_at);
