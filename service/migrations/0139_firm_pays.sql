-- Older nodes: stop.
-- The firm pays: its card or bank account at the processor, who may spend by it, and the charges of it.
CREATE TABLE payment_methods (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  -- `asked`: the processor's page is open. `verifying`: the bank account is being verified. One is `active`.
  state text NOT NULL DEFAULT 'asked' CHECK (state IN ('asked', 'verifying', 'active', 'failed', 'removed')),
  -- The firm, and the method, as the processor names them.
  customer text NOT NULL,
  setup_intent text UNIQUE,
  method text,
  kind text CHECK (kind IN ('card', 'bank')),
  brand text CHECK (char_length(brand) BETWEEN 1 AND 100),
  last4 text CHECK (last4 ~ '^[0-9]{4}$'),
  -- As MM/YYYY.
  card_expires text CHECK (card_expires ~ '^[0-9]{2}/[0-9]{4}$'),
  -- As the audit log names them.
  added_by text NOT NULL,
  added_at timestamptz NOT NULL,
  ended_by text,
  state_version int NOT NULL DEFAULT 1,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK (state <> 'active' OR (method IS NOT NULL AND kind IS NOT NULL))
);
CREATE UNIQUE INDEX payment_methods_one_active ON payment_methods (partner_id, environment) WHERE state = 'active';
CREATE INDEX payment_methods_of_firm ON payment_methods (partner_id, environment, added_at);
CREATE TRIGGER payment_methods_stay
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, partner_id, environment, customer, added_by, added_at ON payment_methods
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
-- The MAC covers `state_version`, which only grows: an earlier row that is put back with its earlier MAC gets another version.
CREATE TRIGGER payment_methods_next_state
  BEFORE UPDATE OF state, setup_intent, method, kind, brand, last4, card_expires, ended_by, state_version ON payment_methods
  FOR EACH ROW EXECUTE FUNCTION next_state_version();

-- How much a member or a key may spend by the firm's method. Owners have no limit; everybody else has none to spend without a row.
CREATE TABLE spending_limits (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  -- As the audit log names actors.
  spender text NOT NULL CHECK (spender ~ '^(member|key):'),
  order_cents bigint NOT NULL CHECK (order_cents BETWEEN 0 AND 100000000),
  month_cents bigint NOT NULL CHECK (month_cents BETWEEN 0 AND 100000000),
  set_by text NOT NULL,
  set_at timestamptz NOT NULL,
  state_version int NOT NULL DEFAULT 1,
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (partner_id, environment, spender)
);
CREATE TRIGGER spending_limits_stay
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, partner_id, environment, spender ON spending_limits
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER spending_limits_next_state
  BEFORE UPDATE OF order_cents, month_cents, set_by, set_at, state_version ON spending_limits
  FOR EACH ROW EXECUTE FUNCTION next_state_version();

CREATE TABLE firm_charges (
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  method_id uuid NOT NULL REFERENCES payment_methods (id),
  amount_cents int NOT NULL CHECK (amount_cents > 0),
  asked_by text NOT NULL,
  asked_at timestamptz NOT NULL,
  -- `answered`: the processor has the payment, its event is to come. `declined`: it refused, its event is to come. `pending`: a bank
  -- moves the money. `refused`: never sent to the processor.
  state text NOT NULL DEFAULT 'asked'
    CHECK (state IN ('asked', 'answered', 'pending', 'declined', 'succeeded', 'failed', 'refused')),
  payment_intent text UNIQUE,
  -- Why it was refused or declined: a word of ours or of the processor.
  reason text CHECK (char_length(reason) BETWEEN 1 AND 200),
  changed_at timestamptz NOT NULL,
  state_version int NOT NULL DEFAULT 1,
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE UNIQUE INDEX firm_charges_one_open ON firm_charges (order_id) WHERE state IN ('asked', 'answered', 'pending');
CREATE INDEX firm_charges_of_order ON firm_charges (order_id, asked_at);
CREATE INDEX firm_charges_of_firm ON firm_charges (partner_id, environment, asked_at);
CREATE TRIGGER firm_charges_stay
  BEFORE DELETE OR TRUNCATE OR
    UPDATE OF id, order_id, partner_id, environment, method_id, amount_cents, asked_by, asked_at ON firm_charges
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER firm_charges_next_state BEFORE UPDATE OF state, payment_intent, reason, changed_at, state_version ON firm_charges
  FOR EACH ROW EXECUTE FUNCTION next_state_version();
