-- Older nodes: stop.
-- One payment of a firm's card or bank account can pay several orders of a group. Each order has its charge, which is its part of the
-- payment; the charges of one payment have the same `group_id`, by which the processor knows the payment. An older node would send each
-- charge as a payment of its own.
ALTER TABLE firm_charges ADD COLUMN group_id uuid;
CREATE TRIGGER firm_charges_keep_groups BEFORE UPDATE OF group_id ON firm_charges
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE UNIQUE INDEX firm_charges_of_group ON firm_charges (group_id, order_id) WHERE group_id IS NOT NULL;

-- The parts of one payment have the same payment intent.
ALTER TABLE firm_charges DROP CONSTRAINT firm_charges_payment_intent_key;
CREATE UNIQUE INDEX firm_charges_payment_intent_key ON firm_charges (payment_intent, order_id);
CREATE UNIQUE INDEX firm_charges_payment_intent_alone ON firm_charges (payment_intent) WHERE group_id IS NULL;
