-- Older nodes: go on.
-- For whom a checkout was opened, the client or the firm: the payer of its orders can change later. A checkout of an earlier release has no row;
-- its payer is that of its orders. It is a table of its own, because an older node would refuse a checkout whose MAC covers more.
CREATE TABLE checkout_payers (
  checkout_id uuid PRIMARY KEY REFERENCES checkout_sessions (id),
  payer text NOT NULL CHECK (payer IN ('client', 'firm')),
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE TRIGGER checkout_payers_stay BEFORE DELETE OR TRUNCATE OR UPDATE OF checkout_id, payer ON checkout_payers
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
