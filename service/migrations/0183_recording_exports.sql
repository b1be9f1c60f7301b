-- Older nodes: go on.
-- Exports of recordings. An export can be downloaded for some days, and continued where it broke off: so each file's name,
-- length and place in the zip are fixed when the export is made. The bytes are read from the recordings.
CREATE TABLE recording_exports (
  id uuid PRIMARY KEY,
  notary_id uuid NOT NULL REFERENCES notaries (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  -- The operator who made the export. Nobody else can download it.
  actor text NOT NULL,
  -- Null for an export of everything of the notary.
  recording_id uuid REFERENCES recordings (id),
  -- The list in the last file of an export of everything.
  contents jsonb,
  created_at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((recording_id IS NULL) = (contents IS NOT NULL))
);
CREATE INDEX recording_exports_by_age ON recording_exports (created_at);

CREATE TABLE recording_export_files (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  export_id uuid NOT NULL REFERENCES recording_exports (id) ON DELETE CASCADE,
  n int NOT NULL,
  -- Null for the journal.
  recording_id uuid REFERENCES recordings (id),
  name text NOT NULL,
  length bigint NOT NULL CHECK (length >= 0),
  -- The proof of the transparency log. A later proof has other bytes.
  proof text,
  -- The CRC-32, once the file was read whole.
  sum bigint CHECK (sum BETWEEN 0 AND 4294967295),
  -- Why the file ends before the bytes that can't be read.
  fault text,
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (export_id, n)
);
