-- The leaps of partners' test clocks. What comes due of a partner's test objects is brought nearer in the transaction that adds the row;
-- what is counted from a time that must stay (how long documents are kept) adds up the leaps since. `settled_at`: all that came due by
-- the leap has happened. `reset_at`: the clock shows real time again.
CREATE TABLE test_clock_advances (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  seconds bigint NOT NULL CHECK (seconds > 0),
  advanced_at timestamptz NOT NULL,
  settled_at timestamptz,
  reset_at timestamptz
);
CREATE INDEX test_clock_advances_of_partner ON test_clock_advances (partner_id, advanced_at);
