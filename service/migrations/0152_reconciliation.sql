-- Older nodes: go on.
-- A copy of the processor's own books: charges, refunds and disputes of its account, as its list of balance transactions has them.
CREATE TABLE balance_transactions (
  id text PRIMARY KEY CHECK (char_length(id) BETWEEN 1 AND 255),
  kind text NOT NULL CHECK (kind IN ('charge', 'refund', 'dispute')),
  -- The charge, refund or dispute that it is of, and its payment.
  source text NOT NULL,
  payment_intent text NOT NULL,
  -- Whether the source has metadata of this service: other uses of the account have none.
  is_ours boolean NOT NULL,
  -- Before the processor's fee; below zero for money that left.
  amount_cents bigint NOT NULL,
  fee_cents bigint NOT NULL,
  currency text NOT NULL,
  created_at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE INDEX balance_transactions_of_payment ON balance_transactions (payment_intent);
CREATE INDEX balance_transactions_of_source ON balance_transactions (source);
CREATE TRIGGER balance_transactions_append_only BEFORE DELETE OR TRUNCATE
  OR UPDATE OF id, kind, source, payment_intent, is_ours, amount_cents, fee_cents, currency, created_at
  ON balance_transactions FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The daily comparison with those books. `ends_at` of the latest one that ended is where the next one goes on.
CREATE TABLE reconciliations (
  day date PRIMARY KEY,
  asked_at timestamptz NOT NULL,
  starts_at timestamptz,
  ends_at timestamptz,
  ended_at timestamptz,
  -- Transactions that were read and belong to payments, and differences that were found.
  compared int,
  differences int,
  CHECK ((ended_at IS NULL) = (ends_at IS NULL) AND (ended_at IS NULL) = (differences IS NULL))
);
