-- Older nodes: stop.
-- An order's MAC covers its code. A code that never leaves its row keeps an earlier row, with its earlier MAC, from coming back as
-- another one.
CREATE TRIGGER orders_keep_codes BEFORE DELETE OR UPDATE OF id, code ON orders
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The latest retirement of a seal certificate counts: an earlier one must not be copied to the end.
DELETE FROM revocations r USING revocations earlier
  WHERE r.kind IN ('key', 'seal') AND earlier.id < r.id AND earlier.reason IS NOT DISTINCT FROM r.reason
    AND (earlier.kind, earlier.subject, earlier.effective_at) = (r.kind, r.subject, r.effective_at);
CREATE UNIQUE INDEX revocations_once ON revocations (kind, subject, effective_at, reason) NULLS NOT DISTINCT
  WHERE kind IN ('key', 'seal');
