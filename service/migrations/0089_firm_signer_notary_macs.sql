-- Older nodes: stop.
-- Rows of firms, of signers and of notaries have a MAC (`partners/firm-mac.ts`, `orders/order-mac.ts`, `notaries/commissions/store.ts`).
-- It covers `state_version`, which only grows, so that an earlier row with its earlier MAC does not come back (0081).
ALTER TABLE partners ADD COLUMN state_version int NOT NULL DEFAULT 1, ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER partners_next_state BEFORE UPDATE ON partners FOR EACH ROW WHEN (
  (OLD.id, OLD.name, OLD.tier, OLD.live_enabled, OLD.passkey_for_live, OLD.demo, OLD.brand_name, OLD.accent_color, OLD.logo_url,
    OLD.contact_email, OLD.state_version)
  IS DISTINCT FROM
  (NEW.id, NEW.name, NEW.tier, NEW.live_enabled, NEW.passkey_for_live, NEW.demo, NEW.brand_name, NEW.accent_color, NEW.logo_url,
    NEW.contact_email, NEW.state_version))
  EXECUTE FUNCTION next_state_version();

ALTER TABLE envelope_signers ADD COLUMN state_version int NOT NULL DEFAULT 1, ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER envelope_signers_next_state BEFORE UPDATE ON envelope_signers FOR EACH ROW WHEN (
  (OLD.id, OLD.envelope_id, OLD.n, OLD.name, OLD.email, OLD.phone, OLD.language, OLD.routing, OLD.auth, OLD.access_code_hash,
    OLD.link_id, OLD.token_sha256, OLD.issued_at, OLD.opened_at, OLD.code_id, OLD.code_sent_at, OLD.failures, OLD.locked_at,
    OLD.session_sha256, OLD.session_expires_at, OLD.consent, OLD.signed_at, OLD.proposal, OLD.state_version)
  IS DISTINCT FROM
  (NEW.id, NEW.envelope_id, NEW.n, NEW.name, NEW.email, NEW.phone, NEW.language, NEW.routing, NEW.auth, NEW.access_code_hash,
    NEW.link_id, NEW.token_sha256, NEW.issued_at, NEW.opened_at, NEW.code_id, NEW.code_sent_at, NEW.failures, NEW.locked_at,
    NEW.session_sha256, NEW.session_expires_at, NEW.consent, NEW.signed_at, NEW.proposal, NEW.state_version))
  EXECUTE FUNCTION next_state_version();

ALTER TABLE notaries ADD COLUMN state_version int NOT NULL DEFAULT 1, ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
CREATE TRIGGER notaries_next_state BEFORE UPDATE ON notaries FOR EACH ROW WHEN (
  (OLD.id, OLD.operator_id, OLD.commission_name, OLD.state, OLD.county, OLD.commission_number, OLD.commission_starts,
    OLD.commission_expires, OLD.ron_registration, OLD.ron_starts, OLD.ron_expires, OLD.tool, OLD.certificate,
    OLD.certificate_chain, OLD.status, OLD.state_version)
  IS DISTINCT FROM
  (NEW.id, NEW.operator_id, NEW.commission_name, NEW.state, NEW.county, NEW.commission_number, NEW.commission_starts,
    NEW.commission_expires, NEW.ron_registration, NEW.ron_starts, NEW.ron_expires, NEW.tool, NEW.certificate,
    NEW.certificate_chain, NEW.status, NEW.state_version))
  EXECUTE FUNCTION next_state_version();

-- A row that is removed and put in again would begin with any version.
CREATE TRIGGER partners_stay BEFORE DELETE OR UPDATE OF id ON partners FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER envelope_signers_stay BEFORE DELETE OR UPDATE OF id, envelope_id, n ON envelope_signers
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER notaries_stay BEFORE DELETE OR UPDATE OF id ON notaries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
