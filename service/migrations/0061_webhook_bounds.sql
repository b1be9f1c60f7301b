-- When the firm's owners were last mailed about a webhook: at most once in 24 hours, however many runs of failures begin.
ALTER TABLE webhooks ADD COLUMN mailed_at timestamptz;
UPDATE webhooks SET mailed_at = alerted_at WHERE alerted_at IS NOT NULL;

-- Deliveries of up to this `seq` have had their exchange dropped: those of the latest stay.
ALTER TABLE webhooks ADD COLUMN exchanges_dropped_to bigint NOT NULL DEFAULT 0;
