-- Older nodes: go on.
-- The accounts of the payment processor that the operator configured, one after another. `since` is null for the first one, to
-- which all earlier payments belong.
CREATE TABLE processor_accounts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account text NOT NULL CHECK (char_length(account) BETWEEN 1 AND 255),
  since timestamptz CHECK (isfinite(since))
);
CREATE TRIGGER processor_accounts_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON processor_accounts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
