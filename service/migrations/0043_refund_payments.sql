-- A refund gives payments back, in whatever currencies they came: a request says which, and their sum says nothing of its own.
ALTER TABLE refund_requests
  ADD COLUMN payments jsonb NOT NULL DEFAULT '[]',
  DROP CONSTRAINT refund_requests_amount_cents_check,
  ADD CONSTRAINT refund_requests_amount_cents_check CHECK (amount_cents >= 0);

CREATE OR REPLACE FUNCTION refuse_refund_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.state <> 'requested'
    OR (NEW.id, NEW.order_id, NEW.reason, NEW.amount_cents, NEW.payments, NEW.requested_by, NEW.requested_at)
      IS DISTINCT FROM
      (OLD.id, OLD.order_id, OLD.reason, OLD.amount_cents, OLD.payments, OLD.requested_by, OLD.requested_at)
  THEN RAISE EXCEPTION 'a refund request is decided once, and otherwise stays as it is';
  END IF;
  RETURN NEW;
END $$;
