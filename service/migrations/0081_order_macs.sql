-- Older nodes: stop.
-- A MAC over the columns of an order that the service acts on and shows (`orders/order-mac.ts`), under a key that is not in the
-- database. The service gives one to the orders of before at its next start, once.
ALTER TABLE orders ADD COLUMN state_version int NOT NULL DEFAULT 1;
ALTER TABLE orders ADD COLUMN state_mac bytea CHECK (length(state_mac) = 36);

-- The MAC covers `state_version`, which only grows: an earlier row that is put back with its earlier MAC gets another version,
-- and its MAC does not hold. The service's own role cannot switch the trigger off.
CREATE FUNCTION next_state_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.state_version := OLD.state_version + 1;
  RETURN NEW;
END $$;

CREATE TRIGGER orders_next_state BEFORE UPDATE ON orders FOR EACH ROW WHEN (
  (OLD.code, OLD.partner_id, OLD.environment, OLD.status, OLD.status_before_hold, OLD.sign, OLD.notarize, OLD.ship, OLD.fax,
    OLD.external_reference, OLD.customer_email, OLD.customer_name, OLD.doc_slug, OLD.signer_state, OLD.dest_state,
    OLD.ship_method, OLD.ship_to, OLD.ship_from, OLD.fax_to, OLD.lines, OLD.subtotal_cents, OLD.discount_cents,
    OLD.total_cents, OLD.price_book_version, OLD.carrier_rate, OLD.state_version)
  IS DISTINCT FROM
  (NEW.code, NEW.partner_id, NEW.environment, NEW.status, NEW.status_before_hold, NEW.sign, NEW.notarize, NEW.ship, NEW.fax,
    NEW.external_reference, NEW.customer_email, NEW.customer_name, NEW.doc_slug, NEW.signer_state, NEW.dest_state,
    NEW.ship_method, NEW.ship_to, NEW.ship_from, NEW.fax_to, NEW.lines, NEW.subtotal_cents, NEW.discount_cents,
    NEW.total_cents, NEW.price_book_version, NEW.carrier_rate, NEW.state_version))
  EXECUTE FUNCTION next_state_version();

-- Another MAC changes no view: the change that it belongs to came with the statement before.
DROP TRIGGER orders_bump_rooms ON orders;
CREATE TRIGGER orders_bump_rooms AFTER UPDATE ON orders
  FOR EACH ROW WHEN (OLD.state_mac IS NOT DISTINCT FROM NEW.state_mac)
  EXECUTE FUNCTION bump_rooms_of_changed_order();
