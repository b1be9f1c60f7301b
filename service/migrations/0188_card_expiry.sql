-- Older nodes: go on.
-- The expiry about which the owners of a firm were mailed. No MAC covers it: its forgery only suppresses or repeats a mail.
ALTER TABLE payment_methods ADD COLUMN expiry_notified text;
