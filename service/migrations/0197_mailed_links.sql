-- Older nodes: go on.
-- Whether the link was mailed. The mail is dropped while the order is on hold, and follows when the order waits again. Links of before were mailed.
-- No MAC covers it: its forgery only suppresses or repeats a mail.
ALTER TABLE appointment_links ADD COLUMN is_mailed boolean NOT NULL DEFAULT true;
ALTER TABLE appointment_links ALTER COLUMN is_mailed SET DEFAULT false;
