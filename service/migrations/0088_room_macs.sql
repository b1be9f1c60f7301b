-- Older nodes: stop.
-- A MAC over a room (`rooms/room-mac.ts`), under a key that is not in the database. The service gives one to the rooms of before at its
-- next start, once.
ALTER TABLE rooms ADD COLUMN state_version int NOT NULL DEFAULT 1;
ALTER TABLE rooms ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);

-- The MAC covers `state_version`, which only grows: an earlier row that is put back with its earlier MAC gets another version. The form
-- of a sealed code is left out, because rotation of SECRETS_KEY changes it.
CREATE TRIGGER rooms_next_state BEFORE UPDATE ON rooms FOR EACH ROW WHEN (
  (OLD.partner_id, OLD.environment, OLD.name, OLD.reference, OLD.status, OLD.order_count, OLD.created_at, OLD.updated_at,
    OLD.state_version)
  IS DISTINCT FROM
  (NEW.partner_id, NEW.environment, NEW.name, NEW.reference, NEW.status, NEW.order_count, NEW.created_at, NEW.updated_at,
    NEW.state_version))
  EXECUTE FUNCTION next_state_version();
CREATE TRIGGER rooms_keep_ids BEFORE DELETE OR UPDATE OF id ON rooms
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Orders and participants have no MAC of their own: each change of them, whoever makes it, gives their room another version, and only
-- the service can make the MAC that goes with it. It raises the version of the room's view, too (`rooms_next_view`). The schema is named,
-- because a temporary table of the caller's named rooms would be found first.
CREATE FUNCTION next_state_of_room() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    EXECUTE format('UPDATE %I.rooms SET state_version = state_version + 1 WHERE id = $1', TG_TABLE_SCHEMA) USING OLD.room_id;
  END IF;
  IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND NEW.room_id <> OLD.room_id THEN
    EXECUTE format('UPDATE %I.rooms SET state_version = state_version + 1 WHERE id = $1', TG_TABLE_SCHEMA) USING NEW.room_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER room_orders_next_state AFTER INSERT OR UPDATE OR DELETE ON room_orders
  FOR EACH ROW EXECUTE FUNCTION next_state_of_room();
DROP TRIGGER room_participants_bump ON room_participants;
CREATE TRIGGER room_participants_next_state AFTER INSERT OR UPDATE OR DELETE ON room_participants
  FOR EACH ROW EXECUTE FUNCTION next_state_of_room();
