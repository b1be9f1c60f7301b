-- Older nodes: stop.
-- A line of the audit log has a MAC from the start: first that of the line, then that of its place. A line that the service did not
-- write gets no place.
ALTER TABLE audit_log
  DROP CONSTRAINT audit_log_check,
  ADD CHECK (num_nulls(chain_position, chain_sha256) IN (0, 2)),
  ADD CHECK (chain_position IS NULL OR row_mac IS NOT NULL);
