-- Older nodes: stop.
-- A MAC over a request for access as it was sent: otherwise the database alone has a firm's first key mailed to somebody else. Mails whose
-- words are in their jobs have a MAC in the payload.
ALTER TABLE access_requests ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);

-- A row of a bulk becomes one order: a placed one that is put back as it was before would be placed again.
CREATE TRIGGER bulk_rows_placed_once BEFORE UPDATE OF state ON bulk_rows
  FOR EACH ROW WHEN (OLD.state = 'placed') EXECUTE FUNCTION refuse_change();
CREATE TRIGGER bulk_rows_stay BEFORE DELETE OR TRUNCATE OR UPDATE OF id, bulk_id, n
  ON bulk_rows FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
