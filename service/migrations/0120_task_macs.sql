-- Older nodes: stop.
-- A MAC over the rows of tasks (`kernel/tasks/store.ts`): otherwise the database alone hides work, gives it to somebody else, or
-- shows it with a false reason. The service gives one to the rows of before at its next start, once.
ALTER TABLE tasks ADD COLUMN state_version int NOT NULL DEFAULT 1, ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER tasks_next_state BEFORE UPDATE ON tasks FOR EACH ROW WHEN (
  (OLD.reason, OLD.state, OLD.claimed_by, OLD.claimed_at, OLD.ended_at, OLD.ended_by, OLD.outcome, OLD.state_version)
  IS DISTINCT FROM
  (NEW.reason, NEW.state, NEW.claimed_by, NEW.claimed_at, NEW.ended_at, NEW.ended_by, NEW.outcome, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
CREATE TRIGGER tasks_stay
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, kind, environment, order_id, subject, due_at, created_at
  ON tasks FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The service closes the tasks of these requests itself, because only it can make their MACs.
CREATE OR REPLACE FUNCTION close_refund_requests() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE refund_requests SET state = 'closed', decided_at = NEW.updated_at, note = 'The refund was asked for by another way.'
  WHERE order_id = NEW.id AND state = 'requested';
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION close_taking_in_requests() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE taking_in_requests SET state = 'closed', decided_at = NEW.updated_at, note = 'The order moved on by another way.'
  WHERE order_id = NEW.id AND state = 'requested';
  RETURN NULL;
END $$;

-- The MAC of an order covers its payer, too: mails about money, prices and a room's checkout depend on it.
DROP TRIGGER orders_next_state ON orders;
CREATE TRIGGER orders_next_state BEFORE UPDATE ON orders FOR EACH ROW WHEN (
  (OLD.partner_id, OLD.environment, OLD.status, OLD.status_before_hold, OLD.sign, OLD.notarize, OLD.ship, OLD.fax,
    OLD.external_reference, OLD.customer_email, OLD.customer_name, OLD.doc_slug, OLD.signer_state, OLD.dest_state,
    OLD.ship_method, OLD.ship_to, OLD.ship_from, OLD.fax_to, OLD.lines, OLD.subtotal_cents, OLD.discount_cents,
    OLD.total_cents, OLD.price_book_version, OLD.carrier_rate, OLD.pay_by, OLD.envelope_status,
    OLD.updated_at, OLD.document_name IS NULL, OLD.document_notices IS NULL, OLD.taken_in, OLD.state_version)
  IS DISTINCT FROM
  (NEW.partner_id, NEW.environment, NEW.status, NEW.status_before_hold, NEW.sign, NEW.notarize, NEW.ship, NEW.fax,
    NEW.external_reference, NEW.customer_email, NEW.customer_name, NEW.doc_slug, NEW.signer_state, NEW.dest_state,
    NEW.ship_method, NEW.ship_to, NEW.ship_from, NEW.fax_to, NEW.lines, NEW.subtotal_cents, NEW.discount_cents,
    NEW.total_cents, NEW.price_book_version, NEW.carrier_rate, NEW.pay_by, NEW.envelope_status,
    NEW.updated_at, NEW.document_name IS NULL, NEW.document_notices IS NULL, NEW.taken_in, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
