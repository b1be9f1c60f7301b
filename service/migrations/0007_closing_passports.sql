-- The versions of a room's closing passport, written once. `manifest` is the canonical JSON (ASCII) that was hashed.
-- A version points at the hash of the one before, so the database itself keeps the chain whole and without a gap.
CREATE TABLE closing_passports (
  room_id uuid NOT NULL REFERENCES rooms (id),
  version int NOT NULL CHECK (version BETWEEN 1 AND 20),
  verify_code text NOT NULL UNIQUE CHECK (verify_code ~ '^[a-z2-7]{26}$'),
  manifest text NOT NULL,
  manifest_sha256 text NOT NULL CHECK (manifest_sha256 ~ '^[0-9a-f]{64}$'),
  prev_version int GENERATED ALWAYS AS (NULLIF(version, 1) - 1) STORED,
  prev_manifest_sha256 text,
  sealed_sha256 text NOT NULL CHECK (sealed_sha256 ~ '^[0-9a-f]{64}$'),
  seal_chain text NOT NULL REFERENCES seal_chains (sha256),
  blob_key text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (room_id, version),
  UNIQUE (room_id, version, manifest_sha256),
  CHECK ((version = 1) = (prev_manifest_sha256 IS NULL)),
  CONSTRAINT closing_passports_chain FOREIGN KEY (room_id, prev_version, prev_manifest_sha256)
    REFERENCES closing_passports (room_id, version, manifest_sha256)
);
CREATE INDEX closing_passports_by_blob ON closing_passports (blob_key);

CREATE TRIGGER closing_passports_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON closing_passports
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
-- The view of a room names its latest version.
CREATE TRIGGER closing_passports_bump AFTER INSERT ON closing_passports FOR EACH ROW EXECUTE FUNCTION bump_room();
