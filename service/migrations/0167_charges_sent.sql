-- Older nodes: stop.
-- When a charge was first sent to the processor; null for one that was never sent. From then on the processor may have a payment, even
-- if its answer was lost. So only the processor's own record ends the charge. An older node would end it on its own records, and it
-- writes MACs that do not cover this column.
ALTER TABLE firm_charges ADD COLUMN sent_at timestamptz;
DROP TRIGGER firm_charges_next_state ON firm_charges;
CREATE TRIGGER firm_charges_next_state
  BEFORE UPDATE OF state, payment_intent, reason, changed_at, sent_at, state_version ON firm_charges
  FOR EACH ROW EXECUTE FUNCTION next_state_version();
