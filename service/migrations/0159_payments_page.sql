-- Older nodes: go on.
-- The console's page of payments that fit no order reads these, and not all refunds and checkouts.
CREATE INDEX refunds_by_hand ON refunds (seen_at, id)
  WHERE request IS NULL AND state IN ('pending', 'succeeded') AND amount_cents > 0;
CREATE INDEX checkout_sessions_pending ON checkout_sessions (created_at, id) WHERE status = 'pending_funds';
