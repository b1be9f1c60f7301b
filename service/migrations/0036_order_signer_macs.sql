-- Who signs an order and where is bound to SECRETS_KEY. Null for orders without signing, and for those that were signed before.
ALTER TABLE orders ADD COLUMN row_mac bytea;
