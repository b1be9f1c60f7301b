-- Older nodes: stop.
-- Whether the notary had claimed the order before taking the request: then a notary who does not come keeps it. The row's MAC covers it.
ALTER TABLE notary_requests ADD COLUMN keeps_claim boolean NOT NULL DEFAULT false CHECK (NOT keeps_claim OR taken_at IS NOT NULL);

-- The states of a day are written page by page before its head, which is computed of all of them.
ALTER TABLE audit_leaves ALTER CONSTRAINT audit_leaves_day_fkey DEFERRABLE INITIALLY DEFERRED;
