-- Older nodes: go on.
-- The people who are sent the final document of an order, chosen when its closing was placed.
CREATE TABLE closing_receivers (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  room_id uuid NOT NULL REFERENCES rooms (id),
  order_id bigint NOT NULL REFERENCES orders (id),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  email text NOT NULL CHECK (char_length(email) <= 320),
  asked_by text NOT NULL,
  asked_at timestamptz NOT NULL,
  -- Set when the document was sent, when there is none to send, and when the firm took it back.
  ended_at timestamptz,
  delivery_id uuid REFERENCES closing_deliveries (id),
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (order_id, email),
  CHECK (delivery_id IS NULL OR ended_at IS NOT NULL)
);
CREATE INDEX closing_receivers_waiting ON closing_receivers (room_id, email) WHERE ended_at IS NULL;
CREATE TRIGGER closing_receivers_stay
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, room_id, order_id, name, email, asked_by, asked_at ON closing_receivers
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
-- A row that has ended does not wait again: no document is sent twice.
CREATE TRIGGER closing_receivers_end_once BEFORE UPDATE OF ended_at, delivery_id ON closing_receivers
  FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION refuse_change();
