-- Older nodes: go on.
-- Being a witness for other operators' logs (C2SP tlog-witness): the newest state of each log that this witness cosigned.
CREATE TABLE witness_logs (
  -- The public key of the witness in hex. A cosignature does not cover the key's name, so only a new key begins at size 0.
  witness text NOT NULL CHECK (witness ~ '^[0-9a-f]{64}$'),
  origin text NOT NULL CHECK (octet_length(origin) <= 1024),
  size bigint NOT NULL CHECK (size >= 0),
  root bytea NOT NULL CHECK (length(root) = 32),
  -- The checkpoint with the log's signature and the cosignature; null before the first one.
  note text CHECK (octet_length(note) <= 65536),
  -- Questions of a day, for the log's daily limit.
  asked_on date,
  asked int NOT NULL DEFAULT 0,
  -- A backup became this database: this key must not cosign again.
  restored_at timestamptz CHECK (isfinite(restored_at)),
  row_mac bytea NOT NULL CHECK (length(row_mac) = 36),
  PRIMARY KEY (witness, origin)
);

CREATE FUNCTION refuse_smaller_witnessed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND (NEW.witness, NEW.origin) = (OLD.witness, OLD.origin)
    AND (NEW.size > OLD.size OR (NEW.size, NEW.root) = (OLD.size, OLD.root))
    AND (OLD.restored_at IS NULL OR NEW.restored_at IS NOT NULL) THEN RETURN NEW;
  END IF;
  RAISE EXCEPTION 'witness_logs only grows' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER witness_logs_grow BEFORE UPDATE OR DELETE ON witness_logs
  FOR EACH ROW EXECUTE FUNCTION refuse_smaller_witnessed();
CREATE TRIGGER witness_logs_stay BEFORE TRUNCATE ON witness_logs FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
