-- Older nodes: stop.
-- The end of a log's halt after a restore is under the MAC of its tree, and the time of the last restore only grows: the service's role
-- can neither clear it nor put an earlier recovery back. An older node would write the tree without these times under its MAC.
ALTER TABLE log_trees
  ADD COLUMN recovered_at timestamptz CHECK (isfinite(recovered_at)),
  ADD CHECK (isfinite(restored_at));

CREATE FUNCTION refuse_unrestored() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.restored_at >= OLD.restored_at THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'the last restore of log_trees only gets later' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER log_trees_stay_restored BEFORE UPDATE OF restored_at ON log_trees
  FOR EACH ROW WHEN (OLD.restored_at IS NOT NULL) EXECUTE FUNCTION refuse_unrestored();
