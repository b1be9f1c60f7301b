-- Older nodes: stop.
-- When a line of the audit log got its place, under the MAC of the place: a line that was added with an earlier time shows. Lines of
-- earlier releases have none.
ALTER TABLE audit_log ADD COLUMN chain_placed_at timestamptz;
DROP TRIGGER audit_log_chained_once ON audit_log;
CREATE TRIGGER audit_log_chained_once BEFORE UPDATE OF chain_position, chain_sha256, chain_placed_at ON audit_log
  FOR EACH ROW WHEN (OLD.chain_position IS NOT NULL) EXECUTE FUNCTION refuse_change();
