-- Older nodes: stop.
-- Amounts that are asked for after an order was paid, because a correction made it dearer. The order's own total stays. An older node
-- would take the money of a supplement for a second payment of the order.
CREATE TABLE supplements (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  amount_cents int NOT NULL CHECK (amount_cents > 0),
  -- The line on the receipt.
  label text NOT NULL CHECK (char_length(label) BETWEEN 1 AND 200),
  state text NOT NULL DEFAULT 'asked' CHECK (state IN ('asked', 'paid', 'withdrawn')),
  payment_id bigint UNIQUE REFERENCES payments (id),
  asked_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  state_version int NOT NULL DEFAULT 1,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((state = 'paid') = (payment_id IS NOT NULL))
);
CREATE UNIQUE INDEX supplements_one_asked ON supplements (order_id) WHERE state = 'asked';
CREATE INDEX supplements_of_order ON supplements (order_id, id);
CREATE TRIGGER supplements_stay
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, order_id, amount_cents, label, asked_at ON supplements
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER supplements_next_state BEFORE UPDATE OF state, payment_id, changed_at, state_version ON supplements
  FOR EACH ROW EXECUTE FUNCTION next_state_version();

-- The supplement that a checkout, a part of one, or a charge of the firm pays; null for the order's total. Its MAC covers it.
ALTER TABLE checkout_sessions ADD COLUMN supplement_id bigint REFERENCES supplements (id) CHECK (supplement_id IS NULL OR order_id IS NOT NULL);
CREATE TRIGGER checkout_sessions_keep_supplements BEFORE UPDATE OF supplement_id ON checkout_sessions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE checkout_parts ADD COLUMN supplement_id bigint REFERENCES supplements (id);
CREATE TRIGGER checkout_parts_keep_supplements BEFORE UPDATE OF supplement_id ON checkout_parts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE firm_charges ADD COLUMN supplement_id bigint REFERENCES supplements (id);
CREATE TRIGGER firm_charges_keep_supplements BEFORE UPDATE OF supplement_id ON firm_charges
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
