-- What providers said of a parcel, a letter or a fax, as a sealed document with their signed events attached; one for each.
ALTER TABLE documents DROP CONSTRAINT documents_kind_check;
ALTER TABLE documents ADD CONSTRAINT documents_kind_check
  CHECK (kind IN ('original', 'revision', 'sealed', 'notarized', 'custody_certificate', 'fax_report', 'shipping_label',
    'delivery_receipt', 'mail_receipt', 'fax_certificate'));

CREATE TABLE receipts (
  order_id bigint NOT NULL REFERENCES orders (id),
  kind text NOT NULL CHECK (kind IN ('delivery_receipt', 'mail_receipt', 'fax_certificate')),
  -- The label, the letter or the fax that it is about.
  subject bigint NOT NULL,
  sha256 text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (order_id, kind, subject)
);
