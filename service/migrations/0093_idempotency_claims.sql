-- Older nodes: go on.
-- The request that claimed a key, by a random id. Without it a slow request completed or released the claim of the one that took over.
-- Null for claims of older nodes.
ALTER TABLE idempotency_keys ADD COLUMN claim uuid;
