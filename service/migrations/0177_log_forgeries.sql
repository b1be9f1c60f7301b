-- Older nodes: go on.
-- A tree grows in the transaction that writes its leaves, so a row of log_leaves outside its tree is forged. Such a row does
-- not count as the leaf of a waiting line, and it may be deleted.
CREATE OR REPLACE FUNCTION refuse_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF TG_TABLE_NAME = 'log_trees' THEN
      IF (NEW.log, NEW.origin, NEW.note_key) = (OLD.log, OLD.origin, OLD.note_key) AND NEW.size >= OLD.size
        AND (OLD.final_size IS NULL OR (NEW.size, NEW.root, NEW.final_size, NEW.successor_key, NEW.end_reason, NEW.ended_at)
          = (OLD.size, OLD.root, OLD.final_size, OLD.successor_key, OLD.end_reason, OLD.ended_at)) THEN RETURN NEW; END IF;
    ELSIF TG_TABLE_NAME = 'log_leaves' THEN
      -- A line that no checkpoint of its ended log covers gets a leaf of the next log.
      IF (NEW.line, NEW.queued_at, split_part(NEW.log, '-', 1)) = (OLD.line, OLD.queued_at, split_part(OLD.log, '-', 1))
        AND EXISTS (SELECT FROM log_trees t WHERE t.log = OLD.log AND OLD.leaf >= t.final_size) THEN RETURN NEW; END IF;
    ELSIF TG_TABLE_NAME = 'log_tiles' THEN
      IF (NEW.log, NEW.level, NEW.n) = (OLD.log, OLD.level, OLD.n)
        AND substring(NEW.hashes FOR length(OLD.hashes)) = OLD.hashes
        AND substring(NEW.entries FOR length(OLD.entries)) IS NOT DISTINCT FROM OLD.entries THEN RETURN NEW; END IF;
    END IF;
  ELSIF TG_OP = 'DELETE' THEN
    IF TG_TABLE_NAME = 'log_leaves' THEN
      IF NOT EXISTS (SELECT FROM log_trees t WHERE t.log = OLD.log AND OLD.leaf < t.size) THEN RETURN OLD; END IF;
    END IF;
  END IF;
  RAISE EXCEPTION '% only grows', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE FUNCTION refuse_lost_lines() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A subquery with a limit is run by index for each row. An anti-join may read the whole table of leaves.
  IF EXISTS (SELECT FROM gone g WHERE (SELECT l.line FROM log_leaves l WHERE log_line_key(l.line) = log_line_key(g.line)
    AND split_part(l.log, '-', 1) = g.log
    AND l.leaf < (SELECT coalesce(final_size, size) FROM log_trees t WHERE t.log = l.log) LIMIT 1) IS DISTINCT FROM g.line) THEN
    RAISE EXCEPTION 'a line leaves log_entries only when it is in log_leaves: the log only grows' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;

-- The time when readers first saw the size. A node of an earlier release leaves it unchanged.
ALTER TABLE log_published ADD COLUMN raised_at timestamptz CHECK (isfinite(raised_at));
-- Until 0173, readers always saw the newest checkpoint.
INSERT INTO log_published AS p (log, size) SELECT log, max(size) FROM log_checkpoints GROUP BY log
ON CONFLICT (log) DO UPDATE SET size = greatest(p.size, excluded.size);
-- A size that no checkpoint has would keep readers from every checkpoint with a quorum.
CREATE FUNCTION refuse_unsigned_size() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM log_checkpoints c WHERE c.log = NEW.log AND c.size = NEW.size) THEN
    RAISE EXCEPTION 'readers see the sizes of checkpoints only: the log has none of this size' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER log_published_signed BEFORE INSERT OR UPDATE ON log_published
  FOR EACH ROW EXECUTE FUNCTION refuse_unsigned_size();
