-- Older nodes: stop.
-- When an operator whom an admin added, or gave more rights, may decide on what another asked for; NULL for those of the command line.
ALTER TABLE operators ADD COLUMN decides_from timestamptz;
