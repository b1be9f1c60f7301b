-- Older nodes: stop.
-- The transparency log: an append-only Merkle tree (RFC 6962) over one line for each seal. Older nodes would seal without a line.
CREATE TABLE log_trees (
  log text PRIMARY KEY CHECK (log IN ('live', 'test')),
  -- Never changes; the host of BASE_URL at the first start, or LOG_ORIGIN.
  origin text NOT NULL UNIQUE CHECK (origin ~ '^[!-*,-~]{1,250}$'),
  -- The public key that signs checkpoints, as verifiers take it.
  note_key text NOT NULL CHECK (octet_length(note_key) <= 400),
  size bigint NOT NULL CHECK (size >= 0),
  root bytea NOT NULL CHECK (length(root) = 32),
  sequenced_at timestamptz,
  -- A backup became this database: the log halts until an operator shows where it ended.
  restored_at timestamptz,
  row_mac bytea NOT NULL CHECK (length(row_mac) = 36)
);

-- Lines of the log. One without a leaf waits for the sequencer, and its MAC shows that the service wrote it; the tree vouches for the others.
CREATE TABLE log_entries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  log text NOT NULL CHECK (log IN ('live', 'test')),
  line text NOT NULL CHECK (octet_length(line) <= 512 AND line ~ E'^[ -~]+\n$'),
  leaf bigint CHECK (leaf >= 0),
  queued_at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (log, line)
);
CREATE UNIQUE INDEX log_entries_leaf ON log_entries (log, leaf) WHERE leaf IS NOT NULL;
CREATE INDEX log_entries_waiting ON log_entries (log, id) WHERE leaf IS NULL;

-- Tiles of C2SP tlog-tiles: up to 256 hashes, and at level 0 the entries below them. A partial tile is the beginning of the whole one.
CREATE TABLE log_tiles (
  log text NOT NULL CHECK (log IN ('live', 'test')),
  level smallint NOT NULL CHECK (level BETWEEN 0 AND 7),
  n bigint NOT NULL CHECK (n >= 0),
  hashes bytea NOT NULL CHECK (length(hashes) BETWEEN 32 AND 8192 AND length(hashes) % 32 = 0),
  entries bytea,
  PRIMARY KEY (log, level, n),
  CHECK ((level = 0) = (entries IS NOT NULL))
);

-- Every checkpoint that was signed. A document's proof leads to the first one over it, so that it never changes.
CREATE TABLE log_checkpoints (
  log text NOT NULL CHECK (log IN ('live', 'test')),
  size bigint NOT NULL CHECK (size >= 0),
  note text NOT NULL,
  signed_at timestamptz NOT NULL,
  PRIMARY KEY (log, size)
);

CREATE FUNCTION refuse_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF TG_TABLE_NAME = 'log_trees' THEN
      IF (NEW.log, NEW.origin, NEW.note_key) = (OLD.log, OLD.origin, OLD.note_key) AND NEW.size >= OLD.size THEN RETURN NEW; END IF;
    ELSIF TG_TABLE_NAME = 'log_entries' THEN
      IF (NEW.id, NEW.log, NEW.line, NEW.queued_at) = (OLD.id, OLD.log, OLD.line, OLD.queued_at)
        AND (OLD.leaf IS NULL OR NEW.leaf IS NOT DISTINCT FROM OLD.leaf) THEN RETURN NEW; END IF;
    ELSIF (NEW.log, NEW.level, NEW.n) = (OLD.log, OLD.level, OLD.n)
      AND substring(NEW.hashes FOR length(OLD.hashes)) = OLD.hashes
      AND substring(NEW.entries FOR length(OLD.entries)) IS NOT DISTINCT FROM OLD.entries THEN RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION '% only grows', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER log_trees_grow BEFORE UPDATE OR DELETE ON log_trees FOR EACH ROW EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER log_entries_grow BEFORE UPDATE OR DELETE ON log_entries FOR EACH ROW EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER log_tiles_grow BEFORE UPDATE OR DELETE ON log_tiles FOR EACH ROW EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER log_trees_stay BEFORE TRUNCATE ON log_trees FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER log_entries_stay BEFORE TRUNCATE ON log_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER log_tiles_stay BEFORE TRUNCATE ON log_tiles FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER log_checkpoints_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Seals from before the log enter it first, in the order of their creation. The service gives them their MACs at its start, adds closing
-- versions, whose lines it alone can write (the first one needs the room's code), and a line that counts them all.
WITH sealed (log, line, at) AS (
  SELECT environment, 'seal/v1 ' || sealed_sha256 || E'\n', created_at FROM passports
  UNION ALL
  SELECT o.environment, 'seal/v1 ' || d.sha256 || E'\n', d.created_at FROM documents d JOIN orders o ON o.id = d.order_id
  WHERE d.kind IN ('sealed', 'notarized', 'custody_certificate', 'delivery_receipt', 'mail_receipt', 'fax_certificate')
  UNION ALL
  SELECT p.environment, 'seal/v1 ' || c.sha256 || E'\n', c.created_at FROM proof_certificates c JOIN passports p ON p.id = c.passport_id
), once AS (
  SELECT log, line, min(at) AS at FROM sealed GROUP BY log, line
)
INSERT INTO log_entries (log, line, queued_at) SELECT log, line, at FROM once ORDER BY log, at, line;
