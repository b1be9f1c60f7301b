-- A document that was notarized elsewhere, which one operator hands in and another approves with the same file. The file itself is kept
-- only once it is approved.
CREATE TABLE taking_in_requests (
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  reason text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
  -- The checks that warned, which the first person confirmed.
  warnings text[] NOT NULL,
  requested_by uuid NOT NULL REFERENCES operators (user_id),
  requested_at timestamptz NOT NULL,
  -- `closed`: the order was notarized, or failed, by another way.
  state text NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'approved', 'refused', 'withdrawn', 'closed')),
  decided_by uuid REFERENCES operators (user_id),
  decided_at timestamptz,
  solo boolean NOT NULL DEFAULT false,
  note text CHECK (char_length(note) BETWEEN 1 AND 500),
  CHECK ((state = 'requested') = (decided_at IS NULL)),
  CONSTRAINT taking_in_decided_by_another CHECK (
    state NOT IN ('approved', 'refused')
    OR (decided_by IS NOT NULL AND (
      decided_by <> requested_by
      OR (state = 'approved' AND solo AND decided_at >= requested_at + interval '60 minutes')))
  )
);
CREATE UNIQUE INDEX taking_in_requests_one_open ON taking_in_requests (order_id) WHERE state = 'requested';
CREATE INDEX taking_in_requests_of_order ON taking_in_requests (order_id, requested_at);

CREATE FUNCTION refuse_taking_in_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.state <> 'requested'
    OR (NEW.id, NEW.order_id, NEW.sha256, NEW.reason, NEW.warnings, NEW.requested_by, NEW.requested_at)
      IS DISTINCT FROM (OLD.id, OLD.order_id, OLD.sha256, OLD.reason, OLD.warnings, OLD.requested_by, OLD.requested_at)
  THEN RAISE EXCEPTION 'a request to take in a document is decided once, and otherwise stays as it is';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER taking_in_requests_decided_once BEFORE UPDATE OR DELETE ON taking_in_requests
  FOR EACH ROW EXECUTE FUNCTION refuse_taking_in_change();

-- An order that does not wait for its notarization any more needs no decision.
CREATE FUNCTION close_taking_in_requests() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE taking_in_requests SET state = 'closed', decided_at = NEW.updated_at, note = 'The order moved on by another way.'
  WHERE order_id = NEW.id AND state = 'requested';
  UPDATE tasks SET state = 'dropped', ended_at = NEW.updated_at, ended_by = 'system', outcome = 'the order moved on by another way'
  WHERE order_id = NEW.id AND kind = 'taking_in_approval' AND state IN ('open', 'claimed', 'paused');
  RETURN NULL;
END $$;
CREATE TRIGGER orders_close_taking_in_requests AFTER UPDATE OF status ON orders
  FOR EACH ROW WHEN (OLD.status IN ('NotarizationPending', 'OnHold') AND NEW.status NOT IN ('NotarizationPending', 'OnHold'))
  EXECUTE FUNCTION close_taking_in_requests();
