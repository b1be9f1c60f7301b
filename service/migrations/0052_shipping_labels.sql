-- Documents may be carriers' labels, beside all that they may be already.
ALTER TABLE documents DROP CONSTRAINT documents_kind_check;
ALTER TABLE documents ADD CONSTRAINT documents_kind_check
  CHECK (kind IN ('original', 'revision', 'sealed', 'notarized', 'custody_certificate', 'fax_report', 'shipping_label',
    'delivery_receipt', 'mail_receipt', 'fax_certificate'));
