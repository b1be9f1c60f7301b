-- Older nodes: go on.
-- A corrected address can be corrected back: then the person waits again under an address whose earlier wait has ended.
ALTER TABLE closing_receivers DROP CONSTRAINT closing_receivers_order_id_email_key;
CREATE UNIQUE INDEX closing_receivers_wait_once ON closing_receivers (order_id, email) WHERE ended_at IS NULL;
CREATE INDEX closing_receivers_of_order ON closing_receivers (order_id, email);
