-- Older nodes: go on.
-- For each signer of a notarized order, the mail that tells them. No MAC covers it: its forgery only suppresses or repeats a mail.
CREATE TABLE notarized_mails (
  order_id bigint NOT NULL REFERENCES orders (id),
  n int NOT NULL CHECK (n BETWEEN 1 AND 10),
  covered_by text,
  PRIMARY KEY (order_id, n)
);
-- Nobody is mailed about orders of before. Of the last minutes, a queued job may still be waiting.
INSERT INTO notarized_mails (order_id, n, covered_by)
  SELECT DISTINCT order_id, 1, 'none' FROM documents WHERE kind = 'notarized' AND created_at < now() - interval '15 minutes';
CREATE INDEX documents_notarized ON documents (created_at) WHERE kind = 'notarized';
