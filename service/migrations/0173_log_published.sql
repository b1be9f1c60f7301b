-- Older nodes: go on.
-- The largest checkpoint that readers of a witnessed log have seen. A quorum that comes late must not lead readers back to a
-- smaller one.
CREATE TABLE log_published (
  log text PRIMARY KEY,
  size bigint NOT NULL CHECK (size >= 0)
);
CREATE TRIGGER log_published_grows BEFORE UPDATE ON log_published FOR EACH ROW
  WHEN ((NEW.log = OLD.log AND NEW.size >= OLD.size) IS NOT TRUE) EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER log_published_stays BEFORE DELETE OR TRUNCATE ON log_published
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
