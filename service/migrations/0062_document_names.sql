-- What documents are called, by the names of their files, encrypted; and the lists that firms look for them in.
ALTER TABLE orders ADD COLUMN document_name bytea;
ALTER TABLE passports ADD COLUMN document_name bytea;
CREATE INDEX orders_by_change ON orders (partner_id, environment, updated_at DESC, id DESC);
