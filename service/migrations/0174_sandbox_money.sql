-- Older nodes: go on.
-- What the sandbox's bank still does about payments of test orders: a debit settles or fails, a payment is disputed, a dispute ends. The
-- test clock moves `due_at`. Each row is about a payment by the firm's test card or test bank account (`payment_id`), or about an order
-- whose simulated checkout is delayed (`order_id`).
CREATE TABLE sandbox_steps (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  payment_id uuid,
  order_id bigint REFERENCES orders (id),
  kind text NOT NULL CHECK (kind IN ('processing', 'settles', 'fails', 'disputed', 'won', 'lost')),
  amount_cents bigint NOT NULL CHECK (amount_cents > 0),
  reason text CHECK (char_length(reason) BETWEEN 1 AND 200),
  due_at timestamptz NOT NULL,
  done_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((payment_id IS NULL) <> (order_id IS NULL))
);
CREATE UNIQUE INDEX sandbox_steps_of_payment ON sandbox_steps (payment_id, kind) WHERE payment_id IS NOT NULL;
CREATE INDEX sandbox_steps_of_order ON sandbox_steps (order_id) WHERE order_id IS NOT NULL;
CREATE INDEX sandbox_steps_due ON sandbox_steps (due_at, id) WHERE done_at IS NULL;
CREATE INDEX sandbox_steps_of_firm ON sandbox_steps (partner_id) WHERE done_at IS NULL;
CREATE TRIGGER sandbox_steps_stay
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, partner_id, payment_id, order_id, kind, amount_cents, reason ON sandbox_steps
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
