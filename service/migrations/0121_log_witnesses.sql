-- Older nodes: go on.
-- Witnesses of the transparency log: what they cosigned, how far each is, and the policies under which they were asked.
CREATE TABLE log_cosignatures (
  log text NOT NULL CHECK (log IN ('live', 'test')),
  size bigint NOT NULL CHECK (size > 0),
  -- Name and ID of the witness's key, as NAME+ID.
  witness text NOT NULL CHECK (octet_length(witness) <= 400),
  -- The line of the signed note. A reader verifies it, so that the row needs no MAC.
  line text NOT NULL CHECK (octet_length(line) <= 1024),
  cosigned_at timestamptz NOT NULL,
  -- With this one the checkpoint had its quorum.
  is_quorum boolean NOT NULL,
  PRIMARY KEY (log, size, witness),
  FOREIGN KEY (log, size) REFERENCES log_checkpoints (log, size)
);
CREATE INDEX log_cosignatures_quorum ON log_cosignatures (log, size) WHERE is_quorum;
CREATE TRIGGER log_cosignatures_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log_cosignatures
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- How far each witness is, whichever node asked it, and why it refuses. `size` is a hint: the witness says its own.
CREATE TABLE log_witnesses (
  log text NOT NULL CHECK (log IN ('live', 'test')),
  witness text NOT NULL CHECK (octet_length(witness) <= 400),
  size bigint NOT NULL DEFAULT 0 CHECK (size >= 0),
  next_at timestamptz NOT NULL,
  failing_since timestamptz,
  -- The witness contradicts the log.
  alarm text,
  PRIMARY KEY (log, witness)
);

-- Policies as they were published, by the hash that the log has.
CREATE TABLE log_policies (
  log text NOT NULL CHECK (log IN ('live', 'test')),
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  policy text NOT NULL CHECK (octet_length(policy) <= 65536),
  published_at timestamptz NOT NULL,
  PRIMARY KEY (log, sha256)
);
CREATE TRIGGER log_policies_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log_policies
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
