-- Older nodes: stop.
-- `replacing`: the processor is asked to end the session before another is minted. `pending_funds`: the payer has finished, and the
-- bank's money has not come: a second payment would be taken, too.
ALTER TABLE checkout_sessions DROP CONSTRAINT checkout_sessions_status_check;
ALTER TABLE checkout_sessions ADD CONSTRAINT checkout_sessions_status_check
  CHECK (status IN ('minting', 'open', 'replacing', 'pending_funds', 'complete', 'expired', 'failed'));

DROP INDEX checkout_sessions_current;
CREATE UNIQUE INDEX checkout_sessions_current ON checkout_sessions (order_id) WHERE status IN ('minting', 'open', 'replacing');

-- Earlier releases called a session complete when its payer had finished, even before the money came.
UPDATE checkout_sessions s SET status = 'pending_funds'
FROM orders o
WHERE s.status = 'complete' AND o.id = s.order_id AND o.status = 'AwaitingPayment'
  AND NOT EXISTS (SELECT FROM payments p WHERE p.order_id = s.order_id AND p.session_id = s.session_id);
