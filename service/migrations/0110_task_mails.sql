-- Older nodes: go on.
-- The newest task of each kind that operators were mailed about, and when: at most one mail in 15 minutes for each kind.
CREATE TABLE task_mails (
  kind text PRIMARY KEY,
  newest_task bigint NOT NULL,
  mailed_at timestamptz NOT NULL
);
INSERT INTO task_mails (kind, newest_task, mailed_at) SELECT kind, max(id), '2000-01-01' FROM tasks GROUP BY kind;
