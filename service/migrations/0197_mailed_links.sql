-- Older nodes: go on.
-- Whether the link was mailed. The mail is dropped while the order is on hold, and follows when the order waits again. Links of before were mailed,
-- unless they were created while the order did not wait for a notary, and it has not waited since, or waits again but their mail is not queued yet.
-- No MAC covers it: its forgery only suppresses or repeats a mail.
ALTER TABLE appointment_links ADD COLUMN is_mailed boolean NOT NULL DEFAULT true;
ALTER TABLE appointment_links ALTER COLUMN is_mailed SET DEFAULT false;
UPDATE appointment_links l SET is_mailed = false FROM orders o
WHERE o.id = l.order_id AND (o.status <> 'NotarizationPending' OR EXISTS (
  SELECT FROM jobs j WHERE j.queue = 'notary-again' AND j.payload ->> 'orderId' = o.id::text)) AND NOT EXISTS (
  SELECT FROM audit_log a
  WHERE a.order_id = l.order_id AND a.from_status = 'NotarizationPending' AND a.occurred_at >= l.created_at);
