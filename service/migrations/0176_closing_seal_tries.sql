-- Older nodes: go on.
-- How often the service has begun to seal the closing's present round. Each further try waits longer. `next_try_at` is infinity after a
-- failure that is final.
ALTER TABLE closing_seals ADD COLUMN tries int NOT NULL DEFAULT 0 CHECK (tries >= 0);
