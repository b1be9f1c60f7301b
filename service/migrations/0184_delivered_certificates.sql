-- Older nodes: stop.
-- A delivery may contain one version of the room's closing certificate. An older node would refuse such a delivery as altered.
ALTER TABLE closing_deliveries ADD COLUMN certificate_sha256 text CHECK (certificate_sha256 ~ '^[0-9a-f]{64}$');
CREATE TRIGGER closing_deliveries_keep_certificate BEFORE UPDATE OF certificate_sha256 ON closing_deliveries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
