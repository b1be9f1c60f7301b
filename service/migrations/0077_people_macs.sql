-- Older nodes: stop.
-- Rows that say who may open what have a MAC (service/src/row-mac-tables.ts): an insider who can write the database makes none that holds.
-- `version` is another one after each change, and the one before is in `revocations`: a row of before the change can't come back.
ALTER TABLE members ADD COLUMN version uuid NOT NULL DEFAULT gen_random_uuid(), ADD COLUMN row_mac bytea;
ALTER TABLE operators ADD COLUMN version uuid NOT NULL DEFAULT gen_random_uuid(), ADD COLUMN row_mac bytea;
ALTER TABLE sessions ADD COLUMN row_mac bytea;
ALTER TABLE sign_in_links ADD COLUMN row_mac bytea;
ALTER TABLE passkeys ADD COLUMN row_mac bytea;
ALTER TABLE recovery_codes ADD COLUMN row_mac bytea;
ALTER TABLE invitations ADD COLUMN row_mac bytea;

-- Rows are only added. `subject` is the id of what opens nothing from `effective_at` on, or the version of a row that has another one.
CREATE TABLE revocations (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  subject text NOT NULL,
  effective_at timestamptz NOT NULL,
  -- Those of keys and seal certificates: a line of the file next to the keys, too.
  reason text,
  row_mac bytea
);
CREATE INDEX revocations_of_subject ON revocations (subject);
