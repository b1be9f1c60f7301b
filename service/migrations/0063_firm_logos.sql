-- Logos that firms uploaded, as PNG of our own making; each under its hash, so that an address is always the same picture.
CREATE TABLE firm_logos (
  partner_id uuid NOT NULL REFERENCES partners (id),
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  png bytea NOT NULL CHECK (octet_length(png) <= 262144),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (partner_id, sha256)
);
CREATE INDEX firm_logos_by_hash ON firm_logos (sha256);
-- The address of one that was uploaded is this service's own, which on one's own machine is no https.
ALTER TABLE partners DROP CONSTRAINT partners_logo_url_check, ADD CONSTRAINT partners_logo_url_check
  CHECK (logo_url ~ '^https://' OR logo_url ~ '^http://(localhost|127\.0\.0\.1)(:[0-9]+)?/logos/');
