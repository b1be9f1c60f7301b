-- A claim is a partner key's, or a member's who sent a form of the dashboard.
ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_partner_key_id_fkey;
ALTER TABLE idempotency_keys RENAME COLUMN partner_key_id TO caller_id;
