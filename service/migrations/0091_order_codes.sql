-- Older nodes: stop.
-- Codes of orders are stored sealed, too, wherever they are (docs/decisions/sealed-codes.md). The key is not in the database: the
-- service seals the codes of before at its next start, and then validates these constraints.
ALTER TABLE orders DROP CONSTRAINT orders_code_check,
  -- The first six digits: people search for orders by them.
  ADD COLUMN code_start text NOT NULL DEFAULT '',
  ADD CONSTRAINT orders_code_sealed CHECK (starts_with(code, 'c1.')) NOT VALID,
  ADD CONSTRAINT orders_code_start_sealed CHECK (starts_with(code_start, 'c1.')) NOT VALID;
ALTER TABLE orders ALTER COLUMN code_start DROP DEFAULT;
CREATE INDEX orders_by_code_start ON orders (code_start);

-- Rotation of SECRETS_KEY gives a code another form, as the owner of the table. The service's own role moves no code to another order.
CREATE FUNCTION refuse_code_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
    RAISE EXCEPTION 'the codes of % stay', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
DROP TRIGGER orders_keep_codes ON orders;
CREATE TRIGGER orders_keep_ids BEFORE DELETE OR UPDATE OF id ON orders
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER orders_keep_codes BEFORE UPDATE OF code ON orders
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_code_change();

-- The MAC covers the open code. Another form changes neither the order nor what a room shows.
DROP TRIGGER orders_next_state ON orders;
CREATE TRIGGER orders_next_state BEFORE UPDATE ON orders FOR EACH ROW WHEN (
  (OLD.partner_id, OLD.environment, OLD.status, OLD.status_before_hold, OLD.sign, OLD.notarize, OLD.ship, OLD.fax,
    OLD.external_reference, OLD.customer_email, OLD.customer_name, OLD.doc_slug, OLD.signer_state, OLD.dest_state,
    OLD.ship_method, OLD.ship_to, OLD.ship_from, OLD.fax_to, OLD.lines, OLD.subtotal_cents, OLD.discount_cents,
    OLD.total_cents, OLD.price_book_version, OLD.carrier_rate, OLD.envelope_status,
    OLD.updated_at, OLD.document_name IS NULL, OLD.document_notices IS NULL, OLD.taken_in, OLD.state_version)
  IS DISTINCT FROM
  (NEW.partner_id, NEW.environment, NEW.status, NEW.status_before_hold, NEW.sign, NEW.notarize, NEW.ship, NEW.fax,
    NEW.external_reference, NEW.customer_email, NEW.customer_name, NEW.doc_slug, NEW.signer_state, NEW.dest_state,
    NEW.ship_method, NEW.ship_to, NEW.ship_from, NEW.fax_to, NEW.lines, NEW.subtotal_cents, NEW.discount_cents,
    NEW.total_cents, NEW.price_book_version, NEW.carrier_rate, NEW.envelope_status,
    NEW.updated_at, NEW.document_name IS NULL, NEW.document_notices IS NULL, NEW.taken_in, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
DROP TRIGGER orders_bump_rooms ON orders;
CREATE TRIGGER orders_bump_rooms AFTER UPDATE ON orders
  FOR EACH ROW WHEN (OLD.state_mac IS NOT DISTINCT FROM NEW.state_mac AND OLD.code = NEW.code)
  EXECUTE FUNCTION bump_rooms_of_changed_order();

-- Ids and subjects of events about orders are sealed, as those of rooms were. `order_id` is the order that is the subject.
ALTER TABLE events DROP CONSTRAINT events_event_id_sealed, DROP CONSTRAINT events_subject_sealed,
  ADD COLUMN order_id bigint;
DROP TRIGGER events_append_only ON events;
UPDATE events SET order_id = orders.id FROM orders WHERE events.subject = orders.code;
CREATE TRIGGER events_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF id, occurred_at, topic, partner_id, environment, room_id, order_id
  ON events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
DROP TRIGGER events_resealed_only ON events;
CREATE TRIGGER events_resealed_only BEFORE UPDATE OF event_id, subject ON events
  FOR EACH ROW WHEN (NOT (starts_with(OLD.topic, 'room.') OR OLD.order_id IS NOT NULL)) EXECUTE FUNCTION refuse_change();
ALTER TABLE events
  ADD CONSTRAINT events_event_id_sealed CHECK (NOT (starts_with(topic, 'room.') OR order_id IS NOT NULL) OR starts_with(event_id, 'c1.')) NOT VALID,
  ADD CONSTRAINT events_subject_sealed CHECK (NOT (starts_with(topic, 'room.') OR order_id IS NOT NULL) OR starts_with(subject, 'c1.')) NOT VALID;

ALTER TABLE webhook_deliveries ADD COLUMN order_id bigint;
UPDATE webhook_deliveries d SET order_id = e.order_id FROM events e WHERE e.id = d.event AND e.order_id IS NOT NULL;
ALTER TABLE webhook_deliveries DROP COLUMN order_code;
CREATE INDEX webhook_deliveries_by_order ON webhook_deliveries (partner_id, environment, order_id, seq)
  WHERE order_id IS NOT NULL;
CREATE OR REPLACE FUNCTION queue_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, order_id, created_at)
  SELECT NEW.id, id, partner_id, environment, NEW.topic, NEW.order_id, NEW.occurred_at
  FROM webhooks
  WHERE partner_id = NEW.partner_id AND environment = NEW.environment AND deleted_at IS NULL AND active
    AND NEW.topic = ANY (topics);
  RETURN NULL;
END $$;

-- Entries of notaries' journals and records of envelopes' trails are stored without their order's code; hashes and MACs are over it, too.
ALTER TABLE notary_journal DROP CONSTRAINT notary_journal_check;
ALTER TABLE notary_journal DISABLE TRIGGER notary_journal_append_only;
UPDATE notary_journal j SET record = replace(j.record, '"orderCode":"' || o.code || '"', '"orderCode":null')
  FROM orders o WHERE o.id = j.order_id;
ALTER TABLE notary_journal ENABLE TRIGGER notary_journal_append_only;
ALTER TABLE envelope_events DISABLE TRIGGER envelope_events_append_only;
UPDATE envelope_events t SET record = replace(t.record, '"orderCode":"' || o.code || '"', '"orderCode":null')
  FROM envelopes e JOIN orders o ON o.id = e.order_id WHERE e.id = t.envelope_id;
ALTER TABLE envelope_events ENABLE TRIGGER envelope_events_append_only;

-- Acts that wait for a key in the browser, for ten minutes at most, have codes, too. Who signs during the upgrade signs again.
DELETE FROM prepared_acts;
ALTER TABLE prepared_acts DROP COLUMN kept, DROP COLUMN tail,
  ADD COLUMN kept text NOT NULL CONSTRAINT prepared_acts_kept_sealed CHECK (starts_with(kept, 'c1.'));

-- The sandbox calls the payment of an order by a hash of the order's code. The service renames the payments, whose MACs cover the name.
ALTER TABLE payment_resolutions DROP CONSTRAINT payment_resolutions_event_id_fkey;
ALTER TABLE payment_resolutions DISABLE TRIGGER payment_resolutions_append_only;
CREATE FUNCTION sandbox_name(earlier text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(replace(earlier, substring(earlier FROM 'sandbox:([0-9a-f]{40})'), left(encode(sha256(convert_to(
    'sandbox payment ' || substring(earlier FROM 'sandbox:([0-9a-f]{40})'), 'UTF8')), 'hex'), 32)), earlier)
$$;
UPDATE processor_events SET event_id = sandbox_name(event_id) WHERE event_id ~ '^sandbox:[0-9a-f]{40}';
UPDATE payment_resolutions SET event_id = sandbox_name(event_id) WHERE event_id ~ '^sandbox:[0-9a-f]{40}';
UPDATE tasks SET subject = sandbox_name(subject) WHERE kind = 'payment_unapplied' AND subject ~ '^sandbox:[0-9a-f]{40}';
ALTER TABLE payment_resolutions ENABLE TRIGGER payment_resolutions_append_only;
ALTER TABLE payment_resolutions ADD CONSTRAINT payment_resolutions_event_id_fkey
  FOREIGN KEY (event_id) REFERENCES processor_events (event_id);
