-- Older nodes: go on.
-- A charge that was refused because the firm had no card or bank account has no method.
ALTER TABLE firm_charges ALTER COLUMN method_id DROP NOT NULL;
ALTER TABLE firm_charges ADD CONSTRAINT firm_charges_have_methods CHECK (method_id IS NOT NULL OR state = 'refused') NOT VALID;
