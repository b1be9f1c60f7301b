-- Older nodes: stop.
-- The run sheet of a notarial act: its steps as they were when it was opened, and what was marked. Older nodes know fewer kinds of acts.
CREATE TABLE notary_sheets (
  id uuid PRIMARY KEY,
  task_id bigint NOT NULL REFERENCES tasks (id),
  order_id bigint NOT NULL REFERENCES orders (id),
  notary_id uuid NOT NULL REFERENCES notaries (id),
  mode text NOT NULL CHECK (mode IN ('ipen', 'ron')),
  script jsonb NOT NULL,
  people jsonb NOT NULL,
  opened_at timestamptz NOT NULL,
  -- An act that began again after an interruption has the next run.
  run int NOT NULL DEFAULT 1 CHECK (run BETWEEN 1 AND 1000),
  head_position int NOT NULL DEFAULT 0 CHECK (head_position BETWEEN 0 AND 20000),
  head_sha256 text CHECK (head_sha256 ~ '^[0-9a-f]{64}$'),
  outcome text CHECK (outcome IN ('done', 'refused', 'no_show', 'technical', 'identity', 'abandoned')),
  ended_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((outcome IS NULL) = (ended_at IS NULL)),
  CHECK ((head_position = 0) = (head_sha256 IS NULL))
);
CREATE UNIQUE INDEX notary_sheets_open ON notary_sheets (task_id) WHERE ended_at IS NULL;
CREATE INDEX notary_sheets_of_task ON notary_sheets (task_id, opened_at);

-- Canonical JSON records, each with the hash of the one before.
CREATE TABLE notary_sheet_marks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sheet_id uuid NOT NULL REFERENCES notary_sheets (id),
  position int NOT NULL CHECK (position > 0),
  record text NOT NULL CHECK (octet_length(record) <= 65536),
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (sheet_id, position)
);
CREATE TRIGGER notary_sheet_marks_append_only
  BEFORE DELETE OR TRUNCATE OR UPDATE OF sheet_id, position, record, sha256
  ON notary_sheet_marks FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
