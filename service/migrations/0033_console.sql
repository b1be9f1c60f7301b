-- What the console's people look for, and by which index it is found; what they note; and tasks for orders that wait already.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE INDEX orders_by_words ON orders
  USING gin (lower(coalesce(customer_name, '') || ' ' || coalesce(external_reference, '')) gin_trgm_ops);
CREATE INDEX orders_by_email ON orders (lower(customer_email));
CREATE INDEX orders_of_all ON orders (environment, created_at DESC, id DESC);
CREATE INDEX orders_of_all_by_status ON orders (environment, status, created_at DESC, id DESC);
CREATE INDEX shipments_by_tracking ON shipments (tracking_number);
CREATE INDEX faxes_by_number ON faxes (fax_to);
CREATE INDEX documents_by_sha256 ON documents (sha256);
CREATE INDEX envelope_signers_by_email ON envelope_signers (lower(email));

CREATE TABLE order_notes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  author text NOT NULL,
  text text NOT NULL CHECK (char_length(text) BETWEEN 1 AND 4000),
  created_at timestamptz NOT NULL
);
CREATE INDEX order_notes_of_order ON order_notes (order_id, id);
CREATE TRIGGER order_notes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON order_notes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

INSERT INTO tasks (kind, environment, order_id, due_at, created_at)
SELECT k.kind, o.environment, o.id, now() + interval '1 day', now()
FROM orders o JOIN (VALUES
  ('ManualQuoteRequired', 'quote'), ('OnHold', 'order_on_hold'), ('EsignDeclined', 'envelope_stuck'),
  ('EsignExpired', 'envelope_stuck'), ('NotarizationPending', 'notarize'),
  ('NotarizationFailed', 'notarization_exception'), ('IdentityLocked', 'notarization_exception'),
  ('ShippingPending', 'label_print'), ('ShippingFailed', 'shipping_exception'), ('FaxPending', 'fax_send'),
  ('FaxFailed', 'fax_exception')) AS k (status, kind) ON k.status = o.status
WHERE o.status <> 'ShippingPending' OR o.ship_method IS DISTINCT FROM 'print_mail'
UNION ALL
SELECT 'packet_print', environment, id, now() + interval '1 day', now() FROM orders
WHERE status = 'ShippingPending' AND ship_method = 'print_mail';
INSERT INTO tasks (kind, environment, subject, due_at, created_at)
SELECT 'access_request', 'live', id::text, now() + interval '1 day', now() FROM access_requests WHERE status = 'pending'
UNION ALL
SELECT 'playbook_gate', environment, id::text, now() + interval '1 day', now() FROM playbook_executions WHERE outcome IS NULL;
-- Orders that rest between two services go on by themselves now.
SELECT enqueue_job('next-segment', jsonb_build_object('orderId', id)) FROM orders
WHERE environment = 'live' AND status IN ('EsignComplete', 'NotarizationComplete', 'Delivered', 'FaxDelivered');
