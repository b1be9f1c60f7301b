-- Older nodes: stop.
-- A key belongs to a firm, an environment and a route, so that a retry with the firm's rotated API key is still a retry.
ALTER TABLE idempotency_keys ADD COLUMN partner_id uuid, ADD COLUMN environment text;
DELETE FROM idempotency_keys WHERE created_at < now() - interval '24 hours';
UPDATE idempotency_keys SET partner_id = key.partner_id, environment = key.environment
  FROM partner_keys key WHERE key.id = caller_id;
-- A member's key had the firm's id before it. Nothing said its environment, so it is stored for both.
UPDATE idempotency_keys
  SET partner_id = left(idempotency_key, 36)::uuid, environment = 'live', idempotency_key = substr(idempotency_key, 38)
  WHERE partner_id IS NULL AND idempotency_key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:';
DELETE FROM idempotency_keys WHERE partner_id IS NULL;
-- Two API keys of a firm may have used one name: the first answer is the one that is replayed.
DELETE FROM idempotency_keys later USING idempotency_keys earlier
  WHERE (earlier.partner_id, earlier.environment, earlier.route, earlier.idempotency_key)
      = (later.partner_id, later.environment, later.route, later.idempotency_key)
    AND (earlier.created_at, earlier.caller_id) < (later.created_at, later.caller_id);
ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey;
INSERT INTO idempotency_keys
    (caller_id, partner_id, environment, route, idempotency_key, fingerprint, status, body, created_at, pending_until)
  SELECT caller_id, partner_id, 'test', route, idempotency_key, fingerprint, status, body, created_at, pending_until
  FROM idempotency_keys WHERE NOT EXISTS (SELECT FROM partner_keys key WHERE key.id = caller_id);
ALTER TABLE idempotency_keys DROP COLUMN caller_id;
ALTER TABLE idempotency_keys ALTER COLUMN partner_id SET NOT NULL, ALTER COLUMN environment SET NOT NULL,
  ADD PRIMARY KEY (partner_id, environment, route, idempotency_key);
