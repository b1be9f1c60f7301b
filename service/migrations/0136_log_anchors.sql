-- Older nodes: go on.
-- Hourly roots: checkpoints that time-stamping authorities stamp and calendars anchor. A row for each checkpoint and source.
CREATE TABLE log_anchors (
  log text NOT NULL CHECK (log IN ('live', 'test')),
  size bigint NOT NULL CHECK (size > 0),
  -- The address of an authority, or 'opentimestamps' for all calendars together.
  source text NOT NULL CHECK (octet_length(source) BETWEEN 1 AND 2000),
  chosen_at timestamptz NOT NULL,
  -- A source that failed until it anchored a later checkpoint is not asked about this one any more: `superseded`.
  status text NOT NULL CHECK (status IN ('waiting', 'stamped', 'pending', 'confirmed', 'superseded')),
  -- A time-stamp token over the checkpoint, or a detached timestamp of its root. A reader verifies it, so that the row needs no MAC.
  proof bytea CHECK (length(proof) <= 262144),
  anchored_at timestamptz,
  block_height integer CHECK (block_height >= 0),
  next_look_at timestamptz,
  looks integer NOT NULL DEFAULT 0,
  PRIMARY KEY (log, size, source),
  FOREIGN KEY (log, size) REFERENCES log_checkpoints (log, size),
  CHECK ((proof IS NULL) = (status IN ('waiting', 'superseded'))),
  CHECK ((anchored_at IS NULL) = (proof IS NULL)),
  CHECK ((block_height IS NOT NULL) = (status = 'confirmed')),
  CHECK ((next_look_at IS NOT NULL) = (status IN ('waiting', 'pending')))
);
CREATE INDEX log_anchors_due ON log_anchors (next_look_at) WHERE next_look_at IS NOT NULL;
CREATE INDEX log_anchors_proofs ON log_anchors (log, size) WHERE proof IS NOT NULL;

-- A proof is never taken away; only that of calendars grows, until a block confirms it.
CREATE FUNCTION refuse_anchor_loss() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.proof IS NOT NULL AND OLD.status = 'pending' AND NEW.status IN ('pending', 'confirmed') THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'the proofs of log_anchors only grow' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER log_anchors_keep BEFORE UPDATE ON log_anchors
  FOR EACH ROW WHEN (OLD.proof IS NOT NULL) EXECUTE FUNCTION refuse_anchor_loss();
CREATE TRIGGER log_anchors_stay BEFORE DELETE OR TRUNCATE ON log_anchors FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
