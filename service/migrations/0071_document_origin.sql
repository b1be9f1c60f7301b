-- Who handed in a document that was signed or notarized elsewhere. Null where the service made it, or it came with the order.
ALTER TABLE documents ADD COLUMN origin text CHECK (origin = 'operator');

-- A live order is signed here with a custody certificate, and notarized here with an entry of a journal. Of test orders nothing tells
-- what an operator took in from what the sandbox made.
UPDATE documents d SET origin = 'operator'
FROM orders o
WHERE o.id = d.order_id AND o.environment = 'live' AND (
  d.kind = 'sealed'
    AND NOT EXISTS (SELECT FROM documents c WHERE c.order_id = d.order_id AND c.kind = 'custody_certificate')
  OR d.kind = 'notarized' AND NOT EXISTS (SELECT FROM notary_journal j WHERE j.order_id = d.order_id));
