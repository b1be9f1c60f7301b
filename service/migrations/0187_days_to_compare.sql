-- Older nodes: go on.
-- The days (UTC) of which the daily comparison marks all payments and movements to be compared again. It marks one day in a
-- transaction, so no writer waits for long, also with a million payments.
CREATE TABLE days_to_compare (day date PRIMARY KEY);
CREATE INDEX payments_by_time ON payments (received_at);

-- The first comparison after this migration reads everything: migration 0185 marks only later changes.
INSERT INTO days_to_compare (day)
SELECT generate_series(first.day, (now() AT TIME ZONE 'UTC')::date, '1 day')::date FROM (
  SELECT (least((SELECT min(received_at) FROM payments), (SELECT min(created_at) FROM balance_transactions)) AT TIME ZONE 'UTC')::date AS day
) AS first WHERE first.day IS NOT NULL;
