-- Older nodes: go on.
-- Which orders a refund belongs to that somebody made at the processor, of a part of a payment for several orders: one person says
-- it, another approves.
CREATE TABLE refund_assignments (
  id uuid PRIMARY KEY,
  refund text NOT NULL REFERENCES refunds (id),
  -- `{payment, cents}` of each order that the refund belongs to.
  parts jsonb NOT NULL,
  reason text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
  requested_by uuid NOT NULL REFERENCES operators (user_id),
  requested_at timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'approved', 'refused', 'withdrawn')),
  decided_by uuid REFERENCES operators (user_id),
  decided_at timestamptz,
  solo boolean NOT NULL DEFAULT false,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((state = 'requested') = (decided_at IS NULL) AND (state = 'requested') = (decided_by IS NULL)),
  CONSTRAINT assignment_decided_by_another CHECK (
    state NOT IN ('approved', 'refused') OR decided_by <> requested_by
    OR (state = 'approved' AND solo AND decided_at >= requested_at + interval '60 minutes'))
);
CREATE UNIQUE INDEX refund_assignments_one ON refund_assignments (refund) WHERE state IN ('requested', 'approved');

CREATE FUNCTION refuse_assignment_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE'
    OR OLD.state <> 'requested' AND (NEW.state, NEW.decided_by, NEW.decided_at, NEW.solo)
      IS DISTINCT FROM (OLD.state, OLD.decided_by, OLD.decided_at, OLD.solo)
    OR (NEW.id, NEW.refund, NEW.parts, NEW.reason, NEW.requested_by, NEW.requested_at)
      IS DISTINCT FROM (OLD.id, OLD.refund, OLD.parts, OLD.reason, OLD.requested_by, OLD.requested_at)
  THEN RAISE EXCEPTION 'an assignment of a refund is decided once, and otherwise stays as it is';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER refund_assignments_decided_once BEFORE UPDATE OR DELETE ON refund_assignments
  FOR EACH ROW EXECUTE FUNCTION refuse_assignment_change();
