-- Older nodes: go on.
-- The payments of which our rows or the copies of the processor's movements changed since they were last found to agree. The daily
-- comparison reads these alone, and takes out the ones that agree. Each change is a row of its own: a transaction that changes a payment
-- never waits for another one or for the comparison.
CREATE TABLE payments_to_compare (
  payment_intent text NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (payment_intent, id)
);

-- The processor has no payment of the sandbox.
CREATE FUNCTION compare_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO payments_to_compare (payment_intent)
  SELECT DISTINCT intent FROM (VALUES (NEW.payment_intent), (CASE TG_OP WHEN 'UPDATE' THEN OLD.payment_intent END)) AS i (intent)
  WHERE intent NOT LIKE 'sandbox:%';
  RETURN NULL;
END $$;
-- A payment and a movement stay as they are. A refund and a dispute change their states, and an event can bring an amount later.
CREATE TRIGGER payments_are_compared AFTER INSERT ON payments
  FOR EACH ROW WHEN (NOT NEW.simulated) EXECUTE FUNCTION compare_payment();
CREATE TRIGGER balance_transactions_are_compared AFTER INSERT ON balance_transactions
  FOR EACH ROW EXECUTE FUNCTION compare_payment();
CREATE TRIGGER refunds_are_compared AFTER INSERT OR UPDATE OF payment_intent, amount_cents, currency, state, changed_at ON refunds
  FOR EACH ROW EXECUTE FUNCTION compare_payment();
CREATE TRIGGER disputes_are_compared AFTER INSERT OR UPDATE OF payment_intent, amount_cents, currency, state, changed_at ON disputes
  FOR EACH ROW EXECUTE FUNCTION compare_payment();

-- The comparison counts the movements of its period, and the sums leave out the latest ones.
CREATE INDEX balance_transactions_by_time ON balance_transactions (created_at);
