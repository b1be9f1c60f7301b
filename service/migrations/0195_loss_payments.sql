-- Older nodes: stop.
-- They would leave these rows out of the sums of a month that they close.
-- Money that a firm paid outside the processor, such as by check, for a payment that a bank took back. A wrong booking is reversed by a row of
-- its own, with the reason and the facts of the row that it reverses.
CREATE TABLE loss_payments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  year int NOT NULL,
  number int NOT NULL CHECK (number > 0),
  -- The lost payment of one order.
  payment_id bigint NOT NULL REFERENCES payments (id),
  reverses bigint UNIQUE REFERENCES loss_payments (id),
  amount_cents bigint NOT NULL CHECK (amount_cents > 0),
  way text NOT NULL CHECK (way IN ('check', 'wire', 'transfer')),
  -- The number of the check, or the bank's reference.
  reference text NOT NULL CHECK (char_length(reference) BETWEEN 1 AND 40),
  received_on date NOT NULL,
  reason text CHECK (char_length(reason) BETWEEN 1 AND 500),
  recorded_by text NOT NULL,
  -- Never before an earlier row of the firm, and never in a month that is closed.
  booked_at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((reverses IS NULL) = (reason IS NULL))
);
CREATE UNIQUE INDEX loss_payments_numbers ON loss_payments (partner_id, environment, (reverses IS NULL), year, number);
CREATE INDEX loss_payments_by_time ON loss_payments (partner_id, environment, booked_at);
CREATE INDEX loss_payments_of_payment ON loss_payments (payment_id);
CREATE TRIGGER loss_payments_append_only BEFORE DELETE OR TRUNCATE
  OR UPDATE OF id, partner_id, environment, year, number, payment_id, reverses, amount_cents, way, reference, received_on, reason, recorded_by, booked_at
  ON loss_payments FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
