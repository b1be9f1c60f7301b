-- A seal certificate that counts no longer, from an instant on; the reason by its name of RFC 5280. Part of what the row's MAC is over.
ALTER TABLE seal_chains
  ADD COLUMN retired_at timestamptz,
  ADD COLUMN retirement_reason text,
  ADD CHECK (num_nulls(retired_at, retirement_reason) IN (0, 2));
