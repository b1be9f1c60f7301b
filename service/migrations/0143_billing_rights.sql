-- Older nodes: stop.
-- Whether a member who is not an owner may see what the firm pays: its card, charges, receipts and statements. The MAC of a
-- membership covers it where it is given, so that those of before stay valid.
ALTER TABLE members ADD COLUMN sees_billing boolean NOT NULL DEFAULT false;
