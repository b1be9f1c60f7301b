-- Older nodes: go on.
-- Owners ask for live; an operator grants or refuses it. A request is decided once.
CREATE TABLE live_requests (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  asked_by uuid NOT NULL,
  asked_at timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'asked' CHECK (state IN ('asked', 'granted', 'refused')),
  -- As the audit log names them.
  decided_by text,
  decided_at timestamptz,
  note text CHECK (char_length(note) BETWEEN 1 AND 500),
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((state = 'asked') = (decided_at IS NULL)),
  CHECK ((decided_at IS NULL) = (decided_by IS NULL))
);
CREATE UNIQUE INDEX live_requests_one_open ON live_requests (partner_id) WHERE state = 'asked';
CREATE INDEX live_requests_of_firm ON live_requests (partner_id, asked_at);
CREATE TRIGGER live_requests_stay
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, partner_id, asked_by, asked_at
  ON live_requests FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER live_requests_decided_once BEFORE UPDATE OF state, decided_by, decided_at, note ON live_requests
  FOR EACH ROW WHEN (OLD.state <> 'asked') EXECUTE FUNCTION refuse_change();
