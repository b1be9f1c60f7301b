-- The audit log is a chain: each line bears a hash over itself and the line before it, under a MAC of a key that is not in the
-- database. A line gets its place soon after it was committed, by one node at a time, so that nobody who writes waits for another.
ALTER TABLE audit_log
  ADD COLUMN chain_position bigint,
  ADD COLUMN chain_sha256 bytea CHECK (length(chain_sha256) = 32),
  ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36),
  ADD CHECK (num_nulls(chain_position, chain_sha256, row_mac) IN (0, 3));
CREATE UNIQUE INDEX audit_log_chain ON audit_log (chain_position) WHERE chain_position IS NOT NULL;
CREATE INDEX audit_log_unchained ON audit_log (id) WHERE chain_position IS NULL;

-- A line stays as it was written; a place in the chain is added to one that has none.
DROP TRIGGER audit_log_append_only ON audit_log;
CREATE TRIGGER audit_log_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF id, occurred_at, action, actor, partner_id,
  order_id, from_status, to_status, detail, room_id ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_chained_once BEFORE UPDATE ON audit_log
  FOR EACH ROW WHEN (OLD.chain_position IS NOT NULL) EXECUTE FUNCTION refuse_change();
