-- Older nodes: stop.
-- A link to documents may ask for a code that is mailed to its recipient. Links of before keep working without one. An older node would
-- open such a link without asking.
ALTER TABLE closing_deliveries ADD COLUMN asks_code boolean NOT NULL DEFAULT false;
CREATE TRIGGER closing_deliveries_keep_asking BEFORE UPDATE OF asks_code ON closing_deliveries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The newest code of a delivery. Its digits are derived from its id, and not stored. The fifth wrong one locks the link for good.
CREATE TABLE closing_delivery_codes (
  delivery_id uuid PRIMARY KEY REFERENCES closing_deliveries (id),
  code_id uuid,
  asked_at timestamptz,
  asked int NOT NULL DEFAULT 0,
  failures int NOT NULL DEFAULT 0,
  locked_at timestamptz,
  state_version int NOT NULL DEFAULT 1,
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE TRIGGER closing_delivery_codes_stay BEFORE DELETE OR TRUNCATE OR UPDATE OF delivery_id ON closing_delivery_codes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER closing_delivery_codes_next_state
  BEFORE UPDATE OF code_id, asked_at, asked, failures, locked_at, state_version ON closing_delivery_codes
  FOR EACH ROW EXECUTE FUNCTION next_state_version();

-- Events of the link: a download, a code that was entered, or the lock.
ALTER TABLE closing_delivery_uses ADD COLUMN kind text NOT NULL DEFAULT 'download' CHECK (kind IN ('download', 'code_entered', 'locked'));
CREATE TRIGGER closing_delivery_uses_keep_kinds BEFORE UPDATE OF kind ON closing_delivery_uses
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
