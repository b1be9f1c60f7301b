-- Older nodes: go on.
-- Daily heads of the operator's own records. The transparency log has the SHA-256 of each, so that these rows need no MAC.
CREATE TABLE audit_heads (
  day date PRIMARY KEY,
  taken_at timestamptz NOT NULL CHECK (isfinite(taken_at)),
  -- Keeps the head from revealing what it is over.
  salt bytea NOT NULL CHECK (length(salt) = 32),
  -- The end of the audit log's chain; position 0 and an empty hash for an empty one.
  audit_position bigint NOT NULL CHECK (audit_position >= 0),
  audit_sha256 text NOT NULL CHECK (audit_sha256 ~ '^([0-9a-f]{64})?$'),
  -- Of each set of records: name, count and root.
  sets jsonb NOT NULL
);

-- The states of rows that heads are over: a row for each day on which the state was another one than in the head before.
CREATE TABLE audit_leaves (
  source text NOT NULL,
  row_key text NOT NULL,
  day date NOT NULL REFERENCES audit_heads (day),
  firm text,
  -- An earlier state that returns has its earlier salt and digest again. Both are null for a row that was gone.
  salt bytea CHECK (length(salt) = 16),
  digest bytea CHECK (length(digest) = 32),
  CHECK ((salt IS NULL) = (digest IS NULL)),
  PRIMARY KEY (source, row_key, day)
);

CREATE TRIGGER audit_heads_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_heads
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_leaves_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_leaves
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
