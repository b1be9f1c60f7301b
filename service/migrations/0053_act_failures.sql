-- Tries of an act that failed, as nobody knew what came of them, or by an error here; `tries` numbers the begins.
ALTER TABLE provider_calls ADD COLUMN failures int NOT NULL DEFAULT 0;

-- Each provider's acts have a queue of their own.
UPDATE jobs SET queue = 'provider-act-' || c.provider FROM provider_calls c
WHERE jobs.queue = 'provider-act' AND c.id = (jobs.payload ->> 'intentId')::bigint;
