CREATE TABLE partners (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  tier text NOT NULL CHECK (tier IN ('trial', 'PartnerLink', 'ProOffice', 'ClosingDesk')),
  live_enabled boolean NOT NULL DEFAULT false,
  brand_name text,
  accent_color text CHECK (accent_color ~ '^#[0-9a-f]{6}$'),
  logo_url text CHECK (logo_url LIKE 'https://%'),
  demo boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX partners_one_demo ON partners (demo) WHERE demo;

CREATE TABLE partner_keys (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  key_sha256 bytea NOT NULL UNIQUE CHECK (length(key_sha256) = 32),
  last4 text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX partner_keys_of_partner ON partner_keys (partner_id, created_at);
