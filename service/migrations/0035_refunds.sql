-- A refund is asked for by one operator and approved by another; `solo` where the service is set up for a single person, who then
-- approves an hour later.
CREATE TABLE refund_requests (
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  reason text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
  -- What was held for the order when it was asked for.
  amount_cents bigint NOT NULL CHECK (amount_cents > 0),
  requested_by uuid NOT NULL REFERENCES operators (user_id),
  requested_at timestamptz NOT NULL,
  -- `closed`: the order was refunded by another way.
  state text NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'approved', 'refused', 'withdrawn', 'closed')),
  decided_by uuid REFERENCES operators (user_id),
  decided_at timestamptz,
  solo boolean NOT NULL DEFAULT false,
  note text CHECK (char_length(note) BETWEEN 1 AND 500),
  CHECK ((state = 'requested') = (decided_at IS NULL)),
  CONSTRAINT refund_decided_by_another CHECK (
    state NOT IN ('approved', 'refused')
    OR (decided_by IS NOT NULL AND (
      decided_by <> requested_by
      OR (state = 'approved' AND solo AND decided_at >= requested_at + interval '60 minutes')))
  )
);
CREATE UNIQUE INDEX refund_requests_one_open ON refund_requests (order_id) WHERE state = 'requested';
CREATE INDEX refund_requests_of_order ON refund_requests (order_id, requested_at);
CREATE INDEX refund_requests_ended ON refund_requests (decided_at DESC) WHERE state <> 'requested';

CREATE FUNCTION refuse_refund_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.state <> 'requested'
    OR (NEW.id, NEW.order_id, NEW.reason, NEW.amount_cents, NEW.requested_by, NEW.requested_at)
      IS DISTINCT FROM (OLD.id, OLD.order_id, OLD.reason, OLD.amount_cents, OLD.requested_by, OLD.requested_at)
  THEN RAISE EXCEPTION 'a refund request is decided once, and otherwise stays as it is';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER refund_requests_decided_once BEFORE UPDATE OR DELETE ON refund_requests
  FOR EACH ROW EXECUTE FUNCTION refuse_refund_change();

-- An order that is refunded by another way (the command line, the processor) needs no decision any more.
CREATE FUNCTION close_refund_requests() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE refund_requests SET state = 'closed', decided_at = NEW.updated_at, note = 'The refund was asked for by another way.'
  WHERE order_id = NEW.id AND state = 'requested';
  UPDATE tasks SET state = 'dropped', ended_at = NEW.updated_at, ended_by = 'system', outcome = 'refunded by another way'
  WHERE order_id = NEW.id AND kind = 'refund_approval' AND state IN ('open', 'claimed');
  RETURN NULL;
END $$;
CREATE TRIGGER orders_close_refund_requests AFTER UPDATE OF status ON orders
  FOR EACH ROW WHEN (NEW.status = 'RefundPending' AND OLD.status <> 'RefundPending') EXECUTE FUNCTION close_refund_requests();
