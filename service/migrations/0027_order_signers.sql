-- Who signs an order and where, as its form says it; null where the form leaves it to the service. Access codes are salted hashes.
ALTER TABLE orders ADD COLUMN signers jsonb, ADD COLUMN signature_fields jsonb;
