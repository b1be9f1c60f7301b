-- Older nodes: go on.
-- When a backup of this database was made, or a backup became this database.
CREATE TABLE backups (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('made', 'recorded', 'restored')),
  finished_at timestamptz NOT NULL
);
