-- Older nodes: stop.
-- Waiting lines and lines with a leaf are now rows of two tables. To number a line, the sequencer deletes a row with one
-- short index entry and inserts another row. An UPDATE in one table wrote the row and the entries of its three indexes twice.

-- Identifies a line: the first 128 bits of its SHA-256. An index over the line itself is three times as large.
CREATE FUNCTION log_line_key(line text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN substring(sha256(decode(replace(line, '\', '\\'), 'escape')) FOR 16);

-- The lines of the logs, each with its leaf. The tree protects them, so they have no MAC.
CREATE TABLE log_leaves (
  log text NOT NULL,
  leaf bigint NOT NULL CHECK (leaf >= 0),
  line text NOT NULL CHECK (octet_length(line) <= 512),
  queued_at timestamptz NOT NULL
);
INSERT INTO log_leaves (log, leaf, line, queued_at)
SELECT log, leaf, line, queued_at FROM log_entries WHERE leaf IS NOT NULL ORDER BY id;
ALTER TABLE log_leaves ADD PRIMARY KEY (log, leaf);
-- A line is in one log of its environment.
CREATE UNIQUE INDEX log_leaves_line ON log_leaves (log_line_key(line), split_part(log, '-', 1));

CREATE TEMPORARY TABLE waiting ON COMMIT DROP AS
SELECT id, log, line, queued_at, row_mac FROM log_entries WHERE leaf IS NULL;
DROP TABLE log_entries;
-- Lines that wait for the sequencer. The MAC shows that the service wrote the line. Rows come and go all the time, so
-- vacuum must not shorten the table: it would lock the table while seals wait.
CREATE TABLE log_entries (
  id bigint GENERATED ALWAYS AS IDENTITY,
  log text NOT NULL CHECK (log IN ('live', 'test')),
  line text NOT NULL CHECK (octet_length(line) <= 512 AND line ~ E'^[ -~]+\n$'),
  queued_at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36),
  PRIMARY KEY (log, id)
) WITH (vacuum_truncate = off);
INSERT INTO log_entries (log, line, queued_at, row_mac) SELECT log, line, queued_at, row_mac FROM waiting ORDER BY id;

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
  END IF;
  RAISE EXCEPTION '% only grows', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER log_leaves_grow BEFORE UPDATE OR DELETE ON log_leaves FOR EACH ROW EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER log_leaves_stay BEFORE TRUNCATE ON log_leaves FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A waiting line goes nowhere but into the log. Only its MAC changes, with SECRETS_KEY.
CREATE FUNCTION refuse_lost_lines() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A subquery with a limit is run by index for each row. An anti-join may read the whole table of leaves.
  IF EXISTS (SELECT FROM gone g WHERE (SELECT l.line FROM log_leaves l WHERE log_line_key(l.line) = log_line_key(g.line)
    AND split_part(l.log, '-', 1) = g.log LIMIT 1) IS DISTINCT FROM g.line) THEN
    RAISE EXCEPTION 'a line leaves log_entries only when it is in log_leaves: the log only grows' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER log_entries_lost AFTER DELETE ON log_entries REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_lost_lines();
CREATE TRIGGER log_entries_kept BEFORE UPDATE ON log_entries FOR EACH ROW
  WHEN ((NEW.id, NEW.log, NEW.line, NEW.queued_at) IS DISTINCT FROM (OLD.id, OLD.log, OLD.line, OLD.queued_at))
  EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER log_entries_stay BEFORE TRUNCATE ON log_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
