-- Older nodes: go on.
-- A firm's statements need the few orders of which banks took money back.
CREATE INDEX billing_documents_losses ON billing_documents (partner_id, environment, payment_id) WHERE kind = 'loss';
