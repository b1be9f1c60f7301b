-- Older nodes: go on.
-- Closings whose certificate the service seals by itself once every order has ended. An order that is added later makes it due again.
CREATE TABLE closing_seals (
  room_id uuid PRIMARY KEY REFERENCES rooms (id),
  asked_by text NOT NULL CHECK (char_length(asked_by) BETWEEN 1 AND 100),
  asked_at timestamptz NOT NULL,
  -- Counts the times that it became due again, so that a seal of an earlier state doesn't end the wish.
  round int NOT NULL DEFAULT 0,
  sealed_at timestamptz,
  sealed_version int,
  -- Why the last try failed, and when the next one may be.
  problem text CHECK (char_length(problem) <= 500),
  next_try_at timestamptz,
  CHECK ((sealed_at IS NULL) = (sealed_version IS NULL))
);
CREATE INDEX closing_seals_waiting ON closing_seals (asked_at) WHERE sealed_at IS NULL;
