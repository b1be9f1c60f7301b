-- Older nodes: go on.
-- A line that gets its leaf is by far the most frequent change of the log. PostgreSQL itself allows it, which takes a third
-- of the time that the PL/pgSQL function takes.
DROP TRIGGER log_entries_grow ON log_entries;
CREATE TRIGGER log_entries_grow BEFORE UPDATE ON log_entries FOR EACH ROW
  WHEN ((OLD.leaf IS NULL AND NEW.leaf IS NOT NULL AND split_part(NEW.log, '-', 1) = OLD.log
    AND NEW.id = OLD.id AND NEW.line = OLD.line AND NEW.queued_at = OLD.queued_at) IS NOT TRUE)
  EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER log_entries_kept BEFORE DELETE ON log_entries FOR EACH ROW EXECUTE FUNCTION refuse_log_change();
