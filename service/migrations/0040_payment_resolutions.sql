-- What became of money that moved no order, in an approver's words.
CREATE TABLE payment_resolutions (
  event_id text PRIMARY KEY REFERENCES processor_events (event_id),
  resolved_by uuid NOT NULL REFERENCES operators (user_id),
  resolved_at timestamptz NOT NULL,
  note text NOT NULL CHECK (char_length(note) BETWEEN 1 AND 500)
);
CREATE TRIGGER payment_resolutions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_resolutions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE INDEX processor_events_unapplied ON processor_events (received_at, event_id) WHERE outcome = 'unapplied';

INSERT INTO tasks (kind, environment, order_id, subject, due_at, created_at)
SELECT 'payment_unapplied', o.environment, o.id, e.event_id, now() + interval '1 day', now()
FROM processor_events e JOIN orders o ON o.id = e.order_id WHERE e.outcome = 'unapplied';
