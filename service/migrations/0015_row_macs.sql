-- A MAC under a key that is not in the database, over what a row says: a key id (4 bytes) and 32 bytes. The service gives one
-- to the rows of before at its next start, once, and records that in `row_mac_backfill`; then a row without one says nothing.
ALTER TABLE passports DROP CONSTRAINT passports_row_mac_check;
ALTER TABLE passports ADD CONSTRAINT passports_row_mac_check CHECK (length(row_mac) IN (32, 36));
ALTER TABLE passport_anchors ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
ALTER TABLE seal_chains ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
ALTER TABLE documents ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
ALTER TABLE closing_passports ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);

-- A version stays as it was written; a MAC is added to one that has none.
DROP TRIGGER closing_passports_append_only ON closing_passports;
CREATE TRIGGER closing_passports_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF room_id, version, verify_code,
  manifest, manifest_sha256, prev_manifest_sha256, sealed_sha256, seal_chain, blob_key, created_at ON closing_passports
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER closing_passports_mac_once BEFORE UPDATE OF row_mac ON closing_passports
  FOR EACH ROW WHEN (OLD.row_mac IS NOT NULL) EXECUTE FUNCTION refuse_change();

CREATE TABLE row_mac_backfill (
  done_at timestamptz NOT NULL,
  row_mac bytea NOT NULL CHECK (length(row_mac) = 36)
);
