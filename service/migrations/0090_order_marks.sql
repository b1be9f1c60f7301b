-- Older nodes: stop.
-- A mark of deletion that the service did not write takes no other's place: there may be several of one blob. `written_in` says
-- which of them a check has not read yet; the role that puts a mark here can choose neither column.
ALTER TABLE deleted_blobs ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(), ADD COLUMN written_in xid8 NOT NULL DEFAULT '0';
ALTER TABLE deleted_blobs DROP CONSTRAINT deleted_blobs_pkey, ADD PRIMARY KEY (id);
CREATE INDEX deleted_blobs_of_blob ON deleted_blobs (blob_key);
CREATE INDEX deleted_blobs_as_written ON deleted_blobs (written_in, id);

CREATE FUNCTION number_mark() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.id := gen_random_uuid();
  NEW.written_in := pg_current_xact_id();
  RETURN NEW;
END $$;
CREATE TRIGGER deleted_blobs_numbered BEFORE INSERT ON deleted_blobs FOR EACH ROW EXECUTE FUNCTION number_mark();

DROP TRIGGER deleted_blobs_append_only ON deleted_blobs;
CREATE TRIGGER deleted_blobs_append_only
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, blob_key, rule, deleted_at, written_in ON deleted_blobs
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Marks whose MAC does not hold. They do not count.
CREATE TABLE refused_marks (
  mark_id uuid PRIMARY KEY REFERENCES deleted_blobs (id),
  refused_at timestamptz NOT NULL
);
CREATE TRIGGER refused_marks_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON refused_marks
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- An order's MAC covers more: also which of its documents an operator took in, which so far only their own rows said. Of names and
-- notices it covers whether there are any: rotation encrypts them anew.
ALTER TABLE orders ADD COLUMN taken_in text[] NOT NULL DEFAULT '{}';
DROP TRIGGER orders_next_state ON orders;
UPDATE orders SET taken_in = taken.kinds
FROM (SELECT order_id, array_agg(DISTINCT kind) AS kinds FROM documents WHERE origin = 'operator' GROUP BY order_id) AS taken
WHERE taken.order_id = orders.id;
CREATE TRIGGER orders_next_state BEFORE UPDATE ON orders FOR EACH ROW WHEN (
  (OLD.code, OLD.partner_id, OLD.environment, OLD.status, OLD.status_before_hold, OLD.sign, OLD.notarize, OLD.ship, OLD.fax,
    OLD.external_reference, OLD.customer_email, OLD.customer_name, OLD.doc_slug, OLD.signer_state, OLD.dest_state,
    OLD.ship_method, OLD.ship_to, OLD.ship_from, OLD.fax_to, OLD.lines, OLD.subtotal_cents, OLD.discount_cents,
    OLD.total_cents, OLD.price_book_version, OLD.carrier_rate, OLD.envelope_status,
    OLD.updated_at, OLD.document_name IS NULL, OLD.document_notices IS NULL, OLD.taken_in, OLD.state_version)
  IS DISTINCT FROM
  (NEW.code, NEW.partner_id, NEW.environment, NEW.status, NEW.status_before_hold, NEW.sign, NEW.notarize, NEW.ship, NEW.fax,
    NEW.external_reference, NEW.customer_email, NEW.customer_name, NEW.doc_slug, NEW.signer_state, NEW.dest_state,
    NEW.ship_method, NEW.ship_to, NEW.ship_from, NEW.fax_to, NEW.lines, NEW.subtotal_cents, NEW.discount_cents,
    NEW.total_cents, NEW.price_book_version, NEW.carrier_rate, NEW.envelope_status,
    NEW.updated_at, NEW.document_name IS NULL, NEW.document_notices IS NULL, NEW.taken_in, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
