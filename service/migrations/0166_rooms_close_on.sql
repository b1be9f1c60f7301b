-- Older nodes: stop.
-- The day on which a closing is due. The room's MAC covers it, together with the number of orders. An older node would take a room that has
-- such a day for an altered one.
ALTER TABLE rooms ADD COLUMN closes_on date;
CREATE TRIGGER rooms_next_day BEFORE UPDATE OF closes_on ON rooms FOR EACH ROW
  WHEN (OLD.closes_on IS DISTINCT FROM NEW.closes_on) EXECUTE FUNCTION next_state_version();
CREATE INDEX rooms_by_day ON rooms (partner_id, environment, closes_on, created_at DESC) WHERE status = 'open';
