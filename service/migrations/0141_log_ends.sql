-- Older nodes: stop.
-- A log can end, and another one with a key and an origin of its own follows: `live-2` after `live`. An older node would go on with a log
-- that ended. Waiting lines belong to an environment (`live`, `test`); a line gets the name of its log together with its leaf.
ALTER TABLE log_trees
  DROP CONSTRAINT log_trees_log_check,
  ADD CHECK (log ~ '^(live|test)(-([2-9]|[1-9][0-9]{1,2}))?$'),
  ADD COLUMN environment text NOT NULL GENERATED ALWAYS AS (split_part(log, '-', 1)) STORED,
  ADD COLUMN generation integer NOT NULL GENERATED ALWAYS AS (coalesce(nullif(split_part(log, '-', 2), ''), '1')::integer) STORED,
  -- The size of the last checkpoint of a log that ends. It never changes, and nothing is signed beyond it.
  ADD COLUMN final_size bigint,
  -- The public key of the log that follows.
  ADD COLUMN successor_key text CHECK (octet_length(successor_key) <= 400),
  ADD COLUMN end_reason text CHECK (end_reason IN ('rotation', 'key-compromise', 'lost')),
  ADD COLUMN ended_at timestamptz CHECK (isfinite(ended_at)),
  ADD CHECK (num_nulls(final_size, successor_key, end_reason, ended_at) IN (0, 4)),
  ADD CHECK (final_size <= size);

ALTER TABLE log_entries DROP CONSTRAINT log_entries_log_check, ADD CHECK (log ~ '^(live|test)(-([2-9]|[1-9][0-9]{1,2}))?$');
ALTER TABLE log_tiles DROP CONSTRAINT log_tiles_log_check, ADD CHECK (log ~ '^(live|test)(-([2-9]|[1-9][0-9]{1,2}))?$');
ALTER TABLE log_checkpoints DROP CONSTRAINT log_checkpoints_log_check, ADD CHECK (log ~ '^(live|test)(-([2-9]|[1-9][0-9]{1,2}))?$');
ALTER TABLE log_cosignatures DROP CONSTRAINT log_cosignatures_log_check, ADD CHECK (log ~ '^(live|test)(-([2-9]|[1-9][0-9]{1,2}))?$');
ALTER TABLE log_witnesses DROP CONSTRAINT log_witnesses_log_check, ADD CHECK (log ~ '^(live|test)(-([2-9]|[1-9][0-9]{1,2}))?$');
ALTER TABLE log_anchors DROP CONSTRAINT log_anchors_log_check, ADD CHECK (log ~ '^(live|test)(-([2-9]|[1-9][0-9]{1,2}))?$');

-- A line is in one log of its environment.
ALTER TABLE log_entries DROP CONSTRAINT log_entries_log_line_key;
CREATE UNIQUE INDEX log_entries_line ON log_entries (split_part(log, '-', 1), line);

CREATE OR REPLACE FUNCTION refuse_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF TG_TABLE_NAME = 'log_trees' THEN
      IF (NEW.log, NEW.origin, NEW.note_key) = (OLD.log, OLD.origin, OLD.note_key) AND NEW.size >= OLD.size
        AND (OLD.final_size IS NULL OR (NEW.size, NEW.root, NEW.final_size, NEW.successor_key, NEW.end_reason, NEW.ended_at)
          = (OLD.size, OLD.root, OLD.final_size, OLD.successor_key, OLD.end_reason, OLD.ended_at)) THEN RETURN NEW; END IF;
    ELSIF TG_TABLE_NAME = 'log_entries' THEN
      IF (NEW.id, NEW.line, NEW.queued_at) = (OLD.id, OLD.line, OLD.queued_at) AND (
        NEW.log = OLD.log AND (OLD.leaf IS NULL OR NEW.leaf IS NOT DISTINCT FROM OLD.leaf)
        OR OLD.leaf IS NULL AND NEW.leaf IS NOT NULL AND split_part(NEW.log, '-', 1) = OLD.log
        -- A leaf that no checkpoint of an ended log covers waits for the next log.
        OR NEW.leaf IS NULL AND NEW.log = split_part(OLD.log, '-', 1)
          AND EXISTS (SELECT FROM log_trees t WHERE t.log = OLD.log AND OLD.leaf >= t.final_size)) THEN RETURN NEW; END IF;
    ELSIF (NEW.log, NEW.level, NEW.n) = (OLD.log, OLD.level, OLD.n)
      AND substring(NEW.hashes FOR length(OLD.hashes)) = OLD.hashes
      AND substring(NEW.entries FOR length(OLD.entries)) IS NOT DISTINCT FROM OLD.entries THEN RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION '% only grows', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION refuse_after_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM log_trees WHERE log = NEW.log AND final_size < NEW.size) THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'the log % has ended', NEW.log USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER log_checkpoints_end BEFORE INSERT ON log_checkpoints FOR EACH ROW EXECUTE FUNCTION refuse_after_end();
