-- Older nodes: go on.
-- The sums of closed months, so that a look at statements reads the documents of no closed month. They are computed when a month
-- closes, and each day they are compared with its documents.
CREATE TABLE billing_balances (
  statement_id bigint PRIMARY KEY REFERENCES billing_statements (id),
  sums jsonb NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE TRIGGER billing_balances_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF statement_id, sums ON billing_balances
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
