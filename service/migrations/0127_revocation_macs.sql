-- Older nodes: stop.
-- MACs over certificates of signers and their lists: otherwise the database alone has the service sign a list that revokes a signer's
-- certificate from before the act, or serves a list of before.
ALTER TABLE signer_certificates ADD COLUMN state_version int NOT NULL DEFAULT 1, ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER signer_certificates_next_state BEFORE UPDATE ON signer_certificates FOR EACH ROW
  WHEN ((OLD.revoked_at, OLD.state_version) IS DISTINCT FROM (NEW.revoked_at, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
CREATE TRIGGER signer_certificates_stay BEFORE DELETE OR TRUNCATE OR UPDATE OF number, authority, serial, issued_at
  ON signer_certificates FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

ALTER TABLE signer_crls ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER signer_crls_go_on BEFORE UPDATE ON signer_crls FOR EACH ROW WHEN (NEW.number < OLD.number)
  EXECUTE FUNCTION refuse_change();
CREATE TRIGGER signer_crls_stay BEFORE DELETE OR TRUNCATE OR UPDATE OF authority, list ON signer_crls
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
