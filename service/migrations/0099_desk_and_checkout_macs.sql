-- Older nodes: stop.
-- MACs over notes of notaries, envelopes, checkout sessions, events of the payment processor, notes on payments that moved no order,
-- requests to take in a document, and acts at providers, under a key that is not in the database. The service gives them to the rows
-- of before at its next start, once.

-- A draft is deleted when its act ends. One that is put in again gets another id, which the MAC covers.
ALTER TABLE notary_drafts ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
  ADD COLUMN state_version int NOT NULL DEFAULT 1, ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE FUNCTION number_draft() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.id := gen_random_uuid();
  RETURN NEW;
END $$;
CREATE TRIGGER notary_drafts_numbered BEFORE INSERT ON notary_drafts FOR EACH ROW EXECUTE FUNCTION number_draft();
CREATE TRIGGER notary_drafts_keep_ids BEFORE UPDATE OF id, task_id, notary_id ON notary_drafts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER notary_drafts_next_state BEFORE UPDATE ON notary_drafts FOR EACH ROW WHEN (
  (OLD.act, OLD.appointment_url, OLD.appointment_at, OLD.updated_at, OLD.state_version)
  IS DISTINCT FROM
  (NEW.act, NEW.appointment_url, NEW.appointment_at, NEW.updated_at, NEW.state_version))
  EXECUTE FUNCTION next_state_version();

-- The form of a sealed code is left out, because rotation of SECRETS_KEY changes it.
ALTER TABLE envelopes ADD COLUMN state_version int NOT NULL DEFAULT 1, ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER envelopes_next_state BEFORE UPDATE ON envelopes FOR EACH ROW WHEN (
  (OLD.fields, OLD.pages, OLD.created_at, OLD.expires_at, OLD.outcome, OLD.ended_at, OLD.state_version)
  IS DISTINCT FROM
  (NEW.fields, NEW.pages, NEW.created_at, NEW.expires_at, NEW.outcome, NEW.ended_at, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
CREATE TRIGGER envelopes_stay BEFORE DELETE OR UPDATE OF id, order_id, attempt ON envelopes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

ALTER TABLE checkout_sessions ADD COLUMN state_version int NOT NULL DEFAULT 1,
  ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER checkout_sessions_next_state BEFORE UPDATE ON checkout_sessions FOR EACH ROW WHEN (
  (OLD.status, OLD.amount_cents, OLD.currency, OLD.session_id, OLD.url, OLD.created_at, OLD.expires_at, OLD.state_version)
  IS DISTINCT FROM
  (NEW.status, NEW.amount_cents, NEW.currency, NEW.session_id, NEW.url, NEW.created_at, NEW.expires_at, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
CREATE TRIGGER checkout_sessions_stay BEFORE DELETE OR UPDATE OF id, order_id ON checkout_sessions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- An event gets its outcome once: otherwise money that moved no order is hidden by another outcome.
ALTER TABLE processor_events ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER processor_events_taken_once BEFORE UPDATE OF order_id, outcome ON processor_events
  FOR EACH ROW WHEN (OLD.outcome <> 'taken') EXECUTE FUNCTION refuse_change();

ALTER TABLE payment_resolutions ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
DROP TRIGGER payment_resolutions_append_only ON payment_resolutions;
CREATE TRIGGER payment_resolutions_append_only
  BEFORE DELETE OR TRUNCATE OR UPDATE OF event_id, resolved_by, resolved_at, note ON payment_resolutions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A MAC of its own or of another key changes no request.
ALTER TABLE taking_in_requests ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE OR REPLACE FUNCTION refuse_taking_in_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE'
    OR OLD.state <> 'requested' AND (NEW.state, NEW.decided_by, NEW.decided_at, NEW.solo, NEW.note)
      IS DISTINCT FROM (OLD.state, OLD.decided_by, OLD.decided_at, OLD.solo, OLD.note)
    OR (NEW.id, NEW.order_id, NEW.sha256, NEW.reason, NEW.warnings, NEW.requested_by, NEW.requested_at)
      IS DISTINCT FROM (OLD.id, OLD.order_id, OLD.sha256, OLD.reason, OLD.warnings, OLD.requested_by, OLD.requested_at)
  THEN RAISE EXCEPTION 'a request to take in a document is decided once, and otherwise stays as it is';
  END IF;
  RETURN NEW;
END $$;

-- An act at a provider that is put back as it was before would be done, and paid for, twice.
ALTER TABLE provider_calls ADD COLUMN state_version int NOT NULL DEFAULT 1,
  ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER provider_calls_next_state BEFORE UPDATE ON provider_calls FOR EACH ROW WHEN (
  (OLD.state, OLD.is_beside, OLD.tries, OLD.failures, OLD.ended_by, OLD.code, OLD.state_version)
  IS DISTINCT FROM
  (NEW.state, NEW.is_beside, NEW.tries, NEW.failures, NEW.ended_by, NEW.code, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
CREATE TRIGGER provider_calls_stay BEFORE DELETE OR UPDATE OF id, act, provider, order_id, attempt ON provider_calls
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
