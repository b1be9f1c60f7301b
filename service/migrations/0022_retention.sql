-- Blobs that the retention plan deleted. The rows that name one stay as they are: their hashes, times and MACs are evidence. A mark
-- is written before the blob is removed, and stays. Nothing is removed by a mark whose MAC does not hold.
CREATE TABLE deleted_blobs (
  blob_key text PRIMARY KEY,
  rule text NOT NULL,
  deleted_at timestamptz NOT NULL,
  row_mac bytea NOT NULL CHECK (length(row_mac) = 36)
);
CREATE TRIGGER deleted_blobs_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON deleted_blobs
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Lengths of the stored files, for the quota of their firm; null for those of before. No evidence.
ALTER TABLE passports ADD COLUMN bytes int;
ALTER TABLE closing_passports ADD COLUMN bytes int;
