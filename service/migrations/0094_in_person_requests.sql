-- Older nodes: stop.
-- Online notarization was bought, and a notary asks the firm to agree to an act in person, in ink. What a firm agreed to stays.
CREATE TABLE in_person_requests (
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  reason text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
  requested_by uuid NOT NULL REFERENCES operators (user_id),
  requested_at timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'agreed', 'declined')),
  -- The member or the key of the firm, as the audit log names it.
  decided_by text CHECK (char_length(decided_by) BETWEEN 1 AND 100),
  decided_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((state = 'requested') = (decided_at IS NULL)),
  CHECK ((decided_at IS NULL) = (decided_by IS NULL))
);
CREATE UNIQUE INDEX in_person_requests_one ON in_person_requests (order_id) WHERE state <> 'declined';
CREATE INDEX in_person_requests_of_order ON in_person_requests (order_id, requested_at);

CREATE FUNCTION refuse_in_person_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE'
    OR OLD.state <> 'requested' AND (NEW.state, NEW.decided_by, NEW.decided_at)
      IS DISTINCT FROM (OLD.state, OLD.decided_by, OLD.decided_at)
    OR (NEW.id, NEW.order_id, NEW.reason, NEW.requested_by, NEW.requested_at)
      IS DISTINCT FROM (OLD.id, OLD.order_id, OLD.reason, OLD.requested_by, OLD.requested_at)
  THEN RAISE EXCEPTION 'a request for an act in person is decided once, and otherwise stays as it is';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER in_person_requests_decided_once BEFORE UPDATE OR DELETE ON in_person_requests
  FOR EACH ROW EXECUTE FUNCTION refuse_in_person_change();

-- A request for a part of what is held: the part goes back, and the order goes on. The amount is then the part's.
ALTER TABLE refund_requests ADD COLUMN part boolean NOT NULL DEFAULT false;
CREATE OR REPLACE FUNCTION refuse_refund_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE'
    OR OLD.state <> 'requested' AND (NEW.state, NEW.decided_by, NEW.decided_at, NEW.solo, NEW.note)
      IS DISTINCT FROM (OLD.state, OLD.decided_by, OLD.decided_at, OLD.solo, OLD.note)
    OR (NEW.id, NEW.order_id, NEW.reason, NEW.amount_cents, NEW.payments, NEW.part, NEW.requested_by, NEW.requested_at)
      IS DISTINCT FROM
      (OLD.id, OLD.order_id, OLD.reason, OLD.amount_cents, OLD.payments, OLD.part, OLD.requested_by, OLD.requested_at)
  THEN RAISE EXCEPTION 'a refund request is decided once, and otherwise stays as it is';
  END IF;
  RETURN NEW;
END $$;
