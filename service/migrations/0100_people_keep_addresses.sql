-- Older nodes: go on.
-- A sign-in link finds its person by the address, and a session's MAC names the person. An address that is changed for a moment would
-- sign a stranger in as that person.
CREATE TRIGGER users_keep_addresses BEFORE UPDATE OF id, email ON users
  FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.id OR OLD.email IS DISTINCT FROM NEW.email) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER users_stay BEFORE DELETE ON users FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
