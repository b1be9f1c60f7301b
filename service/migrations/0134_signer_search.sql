-- Older nodes: go on.
-- People search for orders by the names of those who sign them.
CREATE INDEX orders_by_signer ON orders
  USING gin (lower(jsonb_path_query_array(signers, '$[*].name')::text) gin_trgm_ops) WHERE signers IS NOT NULL;
