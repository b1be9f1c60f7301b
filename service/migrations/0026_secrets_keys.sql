-- The keys of SECRETS_KEY that data may hang on, by their ids: a start without one of them is refused. `secrets rotate` takes out a
-- key that nothing hangs on any more.
CREATE TABLE secrets_keys (
  key_id text PRIMARY KEY CHECK (key_id ~ '^[0-9a-f]{8}$'),
  first_used_at timestamptz NOT NULL
);

-- Rotation gives rows another MAC. What a MAC is over still cannot be changed, and who has no key cannot make one.
DROP TRIGGER closing_passports_mac_once ON closing_passports;
DROP TRIGGER audit_log_chained_once ON audit_log;
CREATE TRIGGER audit_log_chained_once BEFORE UPDATE OF chain_position, chain_sha256 ON audit_log
  FOR EACH ROW WHEN (OLD.chain_position IS NOT NULL) EXECUTE FUNCTION refuse_change();
DROP TRIGGER deleted_blobs_append_only ON deleted_blobs;
CREATE TRIGGER deleted_blobs_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF blob_key, rule, deleted_at ON deleted_blobs
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
