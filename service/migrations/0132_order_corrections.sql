-- Older nodes: stop.
-- They would read the document of an ended round as the order's present one.
-- What a firm corrected on an order after trouble, and asked for: who, when, and what was there before. Nothing here changes.
CREATE TABLE order_corrections (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  kind text NOT NULL CHECK (kind IN ('document', 'email', 'address', 'fax', 'signer', 'again', 'refund')),
  before jsonb NOT NULL,
  after jsonb NOT NULL,
  actor text NOT NULL CHECK (char_length(actor) BETWEEN 1 AND 100),
  at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE INDEX order_corrections_of_order ON order_corrections (order_id, id);
CREATE TRIGGER order_corrections_stay
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, order_id, kind, before, after, actor, at
  ON order_corrections FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The document that another one replaced stays.
ALTER TABLE documents DROP CONSTRAINT documents_kind_check;
ALTER TABLE documents ADD CONSTRAINT documents_kind_check CHECK (kind IN ('original', 'original_replaced', 'revision', 'sealed', 'notarized',
  'custody_certificate', 'fax_report', 'shipping_label', 'delivery_receipt', 'mail_receipt', 'fax_certificate')) NOT VALID;
ALTER TABLE documents VALIDATE CONSTRAINT documents_kind_check;
