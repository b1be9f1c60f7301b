-- Older nodes: stop.
-- MACs over payments and refund requests (`payments/payment-mac.ts`, `refunds/store.ts`), under a key that is not in the database. The
-- service gives them to the rows of before at its next start, once.
ALTER TABLE payments ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
ALTER TABLE refund_requests ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);

-- A payment is refunded once: an earlier row that is put back with its earlier MAC would be paid back twice.
CREATE FUNCTION refuse_payment_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.refunded_at IS DISTINCT FROM NEW.refunded_at AND OLD.refunded_at IS NOT NULL
    OR (OLD.id, OLD.order_id, OLD.payment_intent, OLD.session_id, OLD.amount_cents, OLD.currency, OLD.simulated, OLD.received_at)
      IS DISTINCT FROM
      (NEW.id, NEW.order_id, NEW.payment_intent, NEW.session_id, NEW.amount_cents, NEW.currency, NEW.simulated, NEW.received_at)
  THEN RAISE EXCEPTION 'a payment is refunded once, and otherwise stays as it is';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payments_refunded_once BEFORE UPDATE OR DELETE ON payments
  FOR EACH ROW EXECUTE FUNCTION refuse_payment_change();

-- A MAC of its own or of another key changes no request.
CREATE OR REPLACE FUNCTION refuse_refund_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE'
    OR OLD.state <> 'requested' AND (NEW.state, NEW.decided_by, NEW.decided_at, NEW.solo, NEW.note)
      IS DISTINCT FROM (OLD.state, OLD.decided_by, OLD.decided_at, OLD.solo, OLD.note)
    OR (NEW.id, NEW.order_id, NEW.reason, NEW.amount_cents, NEW.payments, NEW.requested_by, NEW.requested_at)
      IS DISTINCT FROM
      (OLD.id, OLD.order_id, OLD.reason, OLD.amount_cents, OLD.payments, OLD.requested_by, OLD.requested_at)
  THEN RAISE EXCEPTION 'a refund request is decided once, and otherwise stays as it is';
  END IF;
  RETURN NEW;
END $$;
