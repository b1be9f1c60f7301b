-- Older nodes: stop.
-- A bank account whose debit was returned, or whose permission ended, is `unusable`: it stays on file, and nothing is charged to it. An older
-- node does not know the state.
ALTER TABLE payment_methods DROP CONSTRAINT payment_methods_state_check;
ALTER TABLE payment_methods ADD CONSTRAINT payment_methods_state_check
  CHECK (state IN ('asked', 'verifying', 'active', 'unusable', 'failed', 'removed'));
