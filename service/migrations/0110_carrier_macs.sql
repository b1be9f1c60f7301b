-- Older nodes: stop.
-- MACs over labels, letters, faxes, attempts at faxes and shipments, under a key that is not in the database. The service gives them to the
-- rows of before at its next start, once. Each covers a version that only grows, so that an earlier row with its earlier MAC does not hold.

ALTER TABLE labels ADD COLUMN state_version int NOT NULL DEFAULT 1, ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER labels_next_state BEFORE UPDATE ON labels FOR EACH ROW WHEN (
  (OLD.number, OLD.attempt, OLD.state, OLD.ordered_by, OLD.most_cents, OLD.shipment_id, OLD.rate_id, OLD.carrier, OLD.service,
    OLD.cents, OLD.tracking_number, OLD.tracker_id, OLD.label_url, OLD.file_sha256, OLD.why, OLD.seen, OLD.signed_by,
    OLD.refund_state, OLD.created_at, OLD.bought_at, OLD.state_version)
  IS DISTINCT FROM
  (NEW.number, NEW.attempt, NEW.state, NEW.ordered_by, NEW.most_cents, NEW.shipment_id, NEW.rate_id, NEW.carrier, NEW.service,
    NEW.cents, NEW.tracking_number, NEW.tracker_id, NEW.label_url, NEW.file_sha256, NEW.why, NEW.seen, NEW.signed_by,
    NEW.refund_state, NEW.created_at, NEW.bought_at, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
CREATE TRIGGER labels_stay BEFORE DELETE OR TRUNCATE OR UPDATE OF id, order_id, number ON labels
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

ALTER TABLE letters ADD COLUMN state_version int NOT NULL DEFAULT 1, ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER letters_next_state BEFORE UPDATE ON letters FOR EACH ROW WHEN (
  (OLD.mail_class, OLD.doc_sha256, OLD.pages, OLD.double_sided, OLD.tracking_number, OLD.expected_delivery, OLD.send_at,
    OLD.accepted_at, OLD.recalled_at, OLD.mailed_at, OLD.rerouted_at, OLD.trouble_at, OLD.delivered_at, OLD.returned_at,
    OLD.failed_at, OLD.cancelled_at, OLD.state_version)
  IS DISTINCT FROM
  (NEW.mail_class, NEW.doc_sha256, NEW.pages, NEW.double_sided, NEW.tracking_number, NEW.expected_delivery, NEW.send_at,
    NEW.accepted_at, NEW.recalled_at, NEW.mailed_at, NEW.rerouted_at, NEW.trouble_at, NEW.delivered_at, NEW.returned_at,
    NEW.failed_at, NEW.cancelled_at, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
CREATE TRIGGER letters_stay BEFORE DELETE OR TRUNCATE OR UPDATE OF id, order_id, attempt, letter_id ON letters
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

ALTER TABLE fax_attempts ADD COLUMN state_version int NOT NULL DEFAULT 1, ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER fax_attempts_next_state BEFORE UPDATE ON fax_attempts FOR EACH ROW WHEN (
  (OLD.state, OLD.retries, OLD.due_at, OLD.fax_to, OLD.fax_from, OLD.client_state, OLD.fax_id, OLD.document_sha256, OLD.sent_sha256,
    OLD.sent_pages, OLD.reason, OLD.pages, OLD.seconds, OLD.is_canceled, OLD.is_settled, OLD.created_at, OLD.started_at, OLD.ended_at,
    OLD.event_id, OLD.receipt_at, OLD.state_version)
  IS DISTINCT FROM
  (NEW.state, NEW.retries, NEW.due_at, NEW.fax_to, NEW.fax_from, NEW.client_state, NEW.fax_id, NEW.document_sha256, NEW.sent_sha256,
    NEW.sent_pages, NEW.reason, NEW.pages, NEW.seconds, NEW.is_canceled, NEW.is_settled, NEW.created_at, NEW.started_at, NEW.ended_at,
    NEW.event_id, NEW.receipt_at, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
CREATE TRIGGER fax_attempts_stay BEFORE DELETE OR TRUNCATE OR UPDATE OF id, order_id, attempt ON fax_attempts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

ALTER TABLE shipments ADD COLUMN state_version int NOT NULL DEFAULT 1, ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER shipments_next_state BEFORE UPDATE ON shipments FOR EACH ROW WHEN (
  (OLD.status, OLD.carrier, OLD.tracking_number, OLD.shipped_at, OLD.delivered_at, OLD.state_version)
  IS DISTINCT FROM
  (NEW.status, NEW.carrier, NEW.tracking_number, NEW.shipped_at, NEW.delivered_at, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
CREATE TRIGGER shipments_stay BEFORE DELETE OR TRUNCATE OR UPDATE OF id, order_id ON shipments
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

ALTER TABLE faxes ADD COLUMN state_version int NOT NULL DEFAULT 1, ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER faxes_next_state BEFORE UPDATE ON faxes FOR EACH ROW WHEN (
  (OLD.status, OLD.fax_to, OLD.sent_at, OLD.delivered_at, OLD.state_version)
  IS DISTINCT FROM
  (NEW.status, NEW.fax_to, NEW.sent_at, NEW.delivered_at, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
CREATE TRIGGER faxes_stay BEFORE DELETE OR TRUNCATE OR UPDATE OF id, order_id ON faxes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
