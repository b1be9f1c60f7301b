-- Documents that wait for an order bear a MAC, too. Which sets of rows of before got theirs is recorded set by set.
ALTER TABLE fill_documents ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
ALTER TABLE row_mac_backfill ADD COLUMN filled text NOT NULL DEFAULT 'evidence';
