-- Texts have bounds of an order, a firm and the service, too. The rows are those of a day: numbers' bounds begin anew.
DELETE FROM signing_texts;
ALTER TABLE signing_texts
  ADD COLUMN order_id bigint NOT NULL REFERENCES orders (id),
  ADD COLUMN partner_id uuid NOT NULL REFERENCES partners (id);
DROP INDEX signing_texts_phone;
CREATE INDEX signing_texts_sent_at ON signing_texts (sent_at);
