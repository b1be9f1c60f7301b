-- What a person has to do. A task is opened in the transaction that causes it, and closed when the world moves on: by whoever did it,
-- or by what happened without them. `subject` names what a task without an order is about.
CREATE TABLE tasks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  order_id bigint REFERENCES orders (id),
  subject text NOT NULL DEFAULT '',
  reason text,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'claimed', 'done', 'dropped')),
  claimed_by text,
  claimed_at timestamptz,
  due_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  ended_by text,
  outcome text,
  CHECK ((state = 'claimed') <= (claimed_by IS NOT NULL AND claimed_at IS NOT NULL)),
  CHECK ((state IN ('done', 'dropped')) = (ended_at IS NOT NULL)),
  CHECK (num_nulls(ended_at, ended_by) IN (0, 2))
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX tasks_one_open ON tasks (kind, order_id, subject) NULLS NOT DISTINCT WHERE state IN ('open', 'claimed');
CREATE INDEX tasks_due ON tasks (environment, kind, due_at, id) WHERE state IN ('open', 'claimed');
CREATE INDEX tasks_claimed ON tasks (claimed_by, environment, due_at, id) WHERE state = 'claimed';
CREATE INDEX tasks_of_order ON tasks (order_id, id) WHERE order_id IS NOT NULL;
