-- Older nodes: stop.
-- Disputes and refunds as the processor's signed events tell them, also of a payment whose own event comes later.
CREATE TABLE disputes (
  -- As the processor names it.
  id text PRIMARY KEY CHECK (char_length(id) BETWEEN 1 AND 255),
  payment_intent text NOT NULL,
  -- In the smallest unit; null until an event says it.
  amount_cents bigint CHECK (amount_cents >= 0),
  currency text,
  state text NOT NULL CHECK (state IN ('opened', 'won', 'lost')),
  -- When the processor made the event that the state is of: events come in any order.
  event_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  state_version int NOT NULL DEFAULT 1,
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE INDEX disputes_of_payment ON disputes (payment_intent);
CREATE TRIGGER disputes_stay BEFORE DELETE OR TRUNCATE OR UPDATE OF id, seen_at ON disputes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER disputes_next_state
  BEFORE UPDATE OF payment_intent, amount_cents, currency, state, event_at, changed_at, state_version ON disputes
  FOR EACH ROW EXECUTE FUNCTION next_state_version();

-- Earlier disputes were tasks alone. One that a person ended without the bank's decision is still open.
INSERT INTO disputes (id, payment_intent, state, event_at, seen_at, changed_at)
SELECT DISTINCT ON (split_part(t.subject, ':', 1)) split_part(t.subject, ':', 1), p.payment_intent,
  CASE WHEN EXISTS (SELECT FROM tasks l WHERE l.kind = 'dispute' AND l.subject = t.subject || ':lost') THEN 'lost'
    WHEN t.outcome = 'the bank decided: won' THEN 'won' ELSE 'opened' END,
  t.created_at, t.created_at, coalesce(t.ended_at, t.created_at)
FROM tasks t JOIN payments p ON p.order_id = t.order_id AND p.payment_intent IS NOT NULL
WHERE t.kind = 'dispute' AND t.subject ~ '^[^:]+:[0-9]+$'
ORDER BY split_part(t.subject, ':', 1), p.refunded_at NULLS FIRST, p.id DESC;

CREATE TABLE refunds (
  -- As the processor names it.
  id text PRIMARY KEY CHECK (char_length(id) BETWEEN 1 AND 255),
  payment_intent text,
  amount_cents bigint CHECK (amount_cents >= 0),
  currency text,
  -- A refund that succeeded can fail later; one that failed stays so.
  state text NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed')),
  -- From our metadata: the request that it is of, and our id of the payment.
  request text,
  payment text,
  seen_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  state_version int NOT NULL DEFAULT 1,
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE INDEX refunds_of_payment ON refunds (payment_intent);
CREATE TRIGGER refunds_stay
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, payment_intent, request, payment, seen_at ON refunds
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refunds_next_state BEFORE UPDATE OF amount_cents, currency, state, changed_at, state_version ON refunds
  FOR EACH ROW EXECUTE FUNCTION next_state_version();

-- A lost dispute is a loss and no credit note, because the price is still owed. A refund that failed after it had succeeded, and a
-- loss that the bank took back, are reversed by documents of their own.
ALTER TABLE billing_documents DROP CONSTRAINT billing_documents_kind_check,
  ADD CONSTRAINT billing_documents_kind_check
    CHECK (kind IN ('receipt', 'credit_note', 'credit_reversal', 'loss', 'loss_reversal'));

-- An approved part that can't go back any more is closed: its approval stays on record.
CREATE OR REPLACE FUNCTION refuse_refund_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE'
    OR OLD.state <> 'requested' AND (NEW.state, NEW.decided_by, NEW.decided_at, NEW.solo, NEW.note)
      IS DISTINCT FROM (OLD.state, OLD.decided_by, OLD.decided_at, OLD.solo, OLD.note)
      AND NOT (OLD.state = 'approved' AND OLD.part AND NEW.state = 'closed' AND NEW.note IS NOT NULL
        AND (NEW.decided_by, NEW.decided_at, NEW.solo) IS NOT DISTINCT FROM (OLD.decided_by, OLD.decided_at, OLD.solo))
    OR (NEW.id, NEW.order_id, NEW.reason, NEW.amount_cents, NEW.payments, NEW.part, NEW.requested_by, NEW.requested_at)
      IS DISTINCT FROM
      (OLD.id, OLD.order_id, OLD.reason, OLD.amount_cents, OLD.payments, OLD.part, OLD.requested_by, OLD.requested_at)
  THEN RAISE EXCEPTION 'a refund request is decided once, and otherwise stays as it is';
  END IF;
  RETURN NEW;
END $$;
