-- Older nodes: go on.
-- The firm pays for its client: no mail and no page tells the client about money.
ALTER TABLE orders ADD COLUMN pay_by text NOT NULL DEFAULT 'client' CHECK (pay_by IN ('client', 'firm'));
