-- Older nodes: go on.
-- The documents of a room that its firm sent to somebody by a link. `files` names them by order, kind and hash, frozen when it was sent.
-- The row's MAC covers all of it: neither another document, another recipient nor a later end can be put there.
CREATE TABLE closing_deliveries (
  id uuid PRIMARY KEY,
  room_id uuid NOT NULL REFERENCES rooms (id),
  recipient_name text NOT NULL CHECK (char_length(recipient_name) BETWEEN 1 AND 200),
  recipient_email text NOT NULL CHECK (char_length(recipient_email) <= 320),
  files jsonb NOT NULL CHECK (jsonb_array_length(files) BETWEEN 1 AND 500),
  sent_by text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
  revoked_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE INDEX closing_deliveries_of_room ON closing_deliveries (room_id, created_at);
CREATE TRIGGER closing_deliveries_stay
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, room_id, recipient_name, recipient_email, files, sent_by, created_at, expires_at
  ON closing_deliveries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
-- A row of before, with the MAC of before, does not come back.
CREATE TRIGGER closing_deliveries_revoked_once BEFORE UPDATE OF revoked_at ON closing_deliveries
  FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL) EXECUTE FUNCTION refuse_change();

-- Downloads by the link: `file` is null for the zip of all.
CREATE TABLE closing_delivery_uses (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  delivery_id uuid NOT NULL REFERENCES closing_deliveries (id),
  at timestamptz NOT NULL,
  file text,
  -- 24 bits of an IPv4 address, 48 of an IPv6 one.
  network text,
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE INDEX closing_delivery_uses_of ON closing_delivery_uses (delivery_id, id);
CREATE TRIGGER closing_delivery_uses_append_only
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, delivery_id, at, file, network ON closing_delivery_uses
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
