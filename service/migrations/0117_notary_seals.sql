-- Older nodes: go on.
-- Pictures of notaries' seals. Blocks show the last one of a notary, once it was held against the commission, as long as that says the same.
CREATE TABLE notary_seals (
  id uuid PRIMARY KEY,
  notary_id uuid NOT NULL REFERENCES notaries (id),
  png bytea NOT NULL CHECK (length(png) <= 262144),
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  -- The name, state, county, number and expiry that the picture was confirmed for.
  commission text CHECK (char_length(commission) <= 2000),
  confirmed_by text,
  confirmed_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((commission IS NULL) = (confirmed_at IS NULL) AND (confirmed_by IS NULL) = (confirmed_at IS NULL))
);
CREATE INDEX notary_seals_of_notary ON notary_seals (notary_id, created_at);
CREATE TRIGGER notary_seals_stay
  BEFORE DELETE OR TRUNCATE OR UPDATE OF id, notary_id, png, created_by, created_at
  ON notary_seals FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
