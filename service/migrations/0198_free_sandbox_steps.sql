-- Older nodes: go on.
-- A simulated checkout of an order of $0.00 can be delayed, too.
ALTER TABLE sandbox_steps DROP CONSTRAINT sandbox_steps_amount_cents_check,
  ADD CONSTRAINT sandbox_steps_amount_cents_check CHECK (amount_cents >= 0);
