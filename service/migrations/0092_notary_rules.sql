-- Older nodes: stop.
-- Changes of the rules of states, where notaries may act and how. A version counts once a second operator has confirmed it.
CREATE TABLE notary_rule_versions (
  id uuid PRIMARY KEY,
  state text NOT NULL CHECK (state ~ '^[A-Z]{2}$'),
  version int NOT NULL CHECK (version > 0),
  -- All rules of the state, in the form that they have in the rules file.
  rules jsonb NOT NULL,
  source_url text NOT NULL CHECK (char_length(source_url) BETWEEN 1 AND 300),
  effective_on date NOT NULL,
  requested_by uuid NOT NULL REFERENCES operators (user_id),
  requested_at timestamptz NOT NULL,
  outcome text NOT NULL DEFAULT 'requested' CHECK (outcome IN ('requested', 'confirmed', 'refused', 'withdrawn')),
  decided_by uuid REFERENCES operators (user_id),
  decided_at timestamptz,
  solo boolean NOT NULL DEFAULT false,
  note text CHECK (char_length(note) BETWEEN 1 AND 500),
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (state, version),
  CHECK ((outcome = 'requested') = (decided_at IS NULL)),
  CONSTRAINT notary_rules_decided_by_another CHECK (
    outcome NOT IN ('confirmed', 'refused')
    OR (decided_by IS NOT NULL AND (
      decided_by <> requested_by
      OR (outcome = 'confirmed' AND solo AND decided_at >= requested_at + interval '60 minutes')))
  )
);
CREATE UNIQUE INDEX notary_rule_versions_one_open ON notary_rule_versions (state) WHERE outcome = 'requested';

CREATE FUNCTION refuse_notary_rule_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE'
    OR OLD.outcome <> 'requested' AND (NEW.outcome, NEW.decided_by, NEW.decided_at, NEW.solo, NEW.note)
      IS DISTINCT FROM (OLD.outcome, OLD.decided_by, OLD.decided_at, OLD.solo, OLD.note)
    OR (NEW.id, NEW.state, NEW.version, NEW.rules, NEW.source_url, NEW.effective_on, NEW.requested_by, NEW.requested_at)
      IS DISTINCT FROM
      (OLD.id, OLD.state, OLD.version, OLD.rules, OLD.source_url, OLD.effective_on, OLD.requested_by, OLD.requested_at)
  THEN RAISE EXCEPTION 'a version of notary rules is decided once, and otherwise stays as it is';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER notary_rule_versions_decided_once BEFORE UPDATE OR DELETE ON notary_rule_versions
  FOR EACH ROW EXECUTE FUNCTION refuse_notary_rule_change();
