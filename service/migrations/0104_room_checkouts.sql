-- Older nodes: stop.
-- A checkout of several orders has no order of its own: its parts name them. `group_id` is the id of their room.
ALTER TABLE checkout_sessions ALTER COLUMN order_id DROP NOT NULL;
ALTER TABLE checkout_sessions ADD COLUMN group_id uuid;
ALTER TABLE checkout_sessions ADD CONSTRAINT checkout_sessions_payee CHECK ((order_id IS NULL) <> (group_id IS NULL));

CREATE TRIGGER checkout_sessions_keep_groups BEFORE UPDATE OF group_id ON checkout_sessions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The share of each order in such a checkout. Each row's MAC covers it: a share that is put into the table pays no order.
CREATE TABLE checkout_parts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  checkout_id uuid NOT NULL REFERENCES checkout_sessions (id),
  order_id bigint NOT NULL REFERENCES orders (id),
  position int NOT NULL,
  amount_cents int NOT NULL CHECK (amount_cents >= 0),
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (checkout_id, order_id)
);
CREATE INDEX checkout_parts_of_order ON checkout_parts (order_id);
CREATE TRIGGER checkout_parts_append_only
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, checkout_id, order_id, position, amount_cents ON checkout_parts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
