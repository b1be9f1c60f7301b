-- One page per transaction. `code` is the credential of its readers and changes by rotation; `id` never leaves the house
-- but as a list cursor.
CREATE TABLE rooms (
  id uuid PRIMARY KEY,
  code text NOT NULL UNIQUE CHECK (code ~ '^[0-9a-f]{40}$'),
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  reference text CHECK (char_length(reference) <= 200),
  status text NOT NULL CHECK (status IN ('open', 'closed')),
  order_count int NOT NULL DEFAULT 0 CHECK (order_count BETWEEN 0 AND 50),
  view_version bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX rooms_newest ON rooms (partner_id, environment, created_at DESC, id DESC);
CREATE INDEX rooms_open ON rooms (partner_id, environment) WHERE status = 'open';

CREATE TABLE room_orders (
  room_id uuid NOT NULL REFERENCES rooms (id),
  order_id bigint NOT NULL REFERENCES orders (id),
  position bigint GENERATED ALWAYS AS IDENTITY,
  label text CHECK (char_length(label) BETWEEN 1 AND 200),
  attached_at timestamptz NOT NULL,
  PRIMARY KEY (room_id, order_id)
);
CREATE INDEX room_orders_of_order ON room_orders (order_id);

-- A removed participant stays as history. `email` is lowercase.
CREATE TABLE room_participants (
  id uuid PRIMARY KEY,
  room_id uuid NOT NULL REFERENCES rooms (id),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  email text NOT NULL CHECK (char_length(email) <= 320),
  role text NOT NULL CHECK (char_length(role) BETWEEN 1 AND 40),
  created_at timestamptz NOT NULL,
  removed_at timestamptz
);
CREATE UNIQUE INDEX room_participants_present ON room_participants (room_id, email) WHERE removed_at IS NULL;

ALTER TABLE audit_log ADD COLUMN room_id uuid REFERENCES rooms (id);
ALTER TABLE events ADD COLUMN room_id uuid REFERENCES rooms (id);

-- The newest activity of one order, in general (room_id null) or in one room.
CREATE INDEX audit_log_activity ON audit_log (order_id, room_id, occurred_at DESC, id DESC)
  WHERE action IN ('order.created', 'order.transition', 'order.claimed', 'order.cancelled', 'signing_link.issued',
    'room.order_attached');

-- A room's view is known by (rooms.view_version, partners.view_version): whatever changes what it shows changes one of
-- them in the same transaction, whoever writes.
ALTER TABLE partners ADD COLUMN view_version bigint NOT NULL DEFAULT 1;

CREATE FUNCTION next_view_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.view_version := OLD.view_version + 1;
  RETURN NEW;
END $$;

CREATE TRIGGER rooms_next_view BEFORE UPDATE ON rooms FOR EACH ROW EXECUTE FUNCTION next_view_version();
CREATE TRIGGER partners_next_view BEFORE UPDATE OF name, brand_name, accent_color, logo_url ON partners
  FOR EACH ROW EXECUTE FUNCTION next_view_version();

-- For tables whose rows hang on a room.
CREATE FUNCTION bump_room() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE rooms SET view_version = view_version + 1 WHERE id = NEW.room_id;
  RETURN NULL;
END $$;

CREATE TRIGGER room_participants_bump AFTER INSERT OR UPDATE ON room_participants
  FOR EACH ROW EXECUTE FUNCTION bump_room();

-- Attaching holds the order's row FOR SHARE: so either the new row of room_orders is seen here, or the attachment waits
-- and then shows the change. Rooms are locked by id, so that two orders of the same rooms never wait in a circle.
CREATE FUNCTION bump_rooms_of_order(changed_order bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM orders WHERE id = changed_order FOR NO KEY UPDATE;
  PERFORM FROM rooms WHERE id IN (SELECT room_id FROM room_orders WHERE order_id = changed_order)
    ORDER BY id FOR NO KEY UPDATE;
  UPDATE rooms SET view_version = view_version + 1
    WHERE id IN (SELECT room_id FROM room_orders WHERE order_id = changed_order);
END $$;

CREATE FUNCTION bump_rooms_of_changed_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_rooms_of_order(NEW.id);
  RETURN NULL;
END $$;

-- For tables whose rows hang on an order.
CREATE FUNCTION bump_rooms_of_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_rooms_of_order(CASE TG_OP WHEN 'DELETE' THEN OLD.order_id ELSE NEW.order_id END);
  RETURN NULL;
END $$;

CREATE TRIGGER orders_bump_rooms AFTER UPDATE ON orders
  FOR EACH ROW EXECUTE FUNCTION bump_rooms_of_changed_order();
-- An original comes with its order, which no room holds yet: creating an order pays nothing.
CREATE TRIGGER documents_bump_rooms AFTER INSERT ON documents
  FOR EACH ROW WHEN (NEW.kind <> 'original') EXECUTE FUNCTION bump_rooms_of_row();
CREATE TRIGGER documents_change_bumps_rooms AFTER UPDATE OR DELETE ON documents
  FOR EACH ROW EXECUTE FUNCTION bump_rooms_of_row();
-- The other actions that a view shows come with a change of the order or the room.
CREATE TRIGGER audit_log_bump_rooms AFTER INSERT ON audit_log
  FOR EACH ROW WHEN (NEW.action IN ('order.claimed', 'order.cancelled', 'signing_link.issued'))
  EXECUTE FUNCTION bump_rooms_of_row();
