-- Older nodes: go on.
-- The tasks that operators were mailed about: at most one mail in 15 minutes for each kind. Rows go after two days.
CREATE TABLE task_mails (
  task_id bigint PRIMARY KEY,
  kind text NOT NULL,
  mailed_at timestamptz NOT NULL
);
CREATE INDEX task_mails_of_kind ON task_mails (kind, mailed_at);
INSERT INTO task_mails (task_id, kind, mailed_at) SELECT id, kind, now() FROM tasks WHERE state = 'open';
