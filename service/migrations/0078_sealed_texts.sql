-- Older nodes: stop.
-- Codes that open something by themselves are stored sealed (platform/sealed-text.ts): one form for each key of SECRETS_KEY, which an
-- index finds, and which a copy of the database does not open. The key is not in the database: the service seals the rows of before at
-- its next start, and then validates these constraints. Until then they already keep plain codes from being written.
ALTER TABLE passports DROP CONSTRAINT passports_verify_code_check,
  ADD CONSTRAINT passports_verify_code_sealed CHECK (starts_with(verify_code, 'c1.')) NOT VALID;
ALTER TABLE closing_passports DROP CONSTRAINT closing_passports_verify_code_check,
  ADD CONSTRAINT closing_passports_verify_code_sealed CHECK (starts_with(verify_code, 'c1.')) NOT VALID,
  ADD CONSTRAINT closing_passports_manifest_sealed CHECK (starts_with(manifest, 'c1.')) NOT VALID;
ALTER TABLE rooms DROP CONSTRAINT rooms_code_check,
  ADD CONSTRAINT rooms_code_sealed CHECK (starts_with(code, 'c1.')) NOT VALID;
ALTER TABLE envelopes DROP CONSTRAINT envelopes_verify_code_check,
  ADD CONSTRAINT envelopes_verify_code_sealed CHECK (starts_with(verify_code, 'c1.')) NOT VALID;
ALTER TABLE idempotency_keys
  ADD CONSTRAINT idempotency_keys_body_sealed CHECK (starts_with(body, 'c1.')) NOT VALID;
-- Ids of rooms' events are made of codes.
ALTER TABLE events
  ADD CONSTRAINT events_event_id_sealed CHECK (NOT starts_with(topic, 'room.') OR starts_with(event_id, 'c1.')) NOT VALID,
  ADD CONSTRAINT events_subject_sealed CHECK (topic <> 'room.passport_sealed' OR starts_with(subject, 'c1.')) NOT VALID;

-- Rotation of SECRETS_KEY gives a text another form. The MACs are over the texts themselves.
DROP TRIGGER closing_passports_append_only ON closing_passports;
CREATE TRIGGER closing_passports_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF room_id, version,
  manifest_sha256, prev_manifest_sha256, sealed_sha256, seal_chain, blob_key, created_at ON closing_passports
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
DROP TRIGGER events_append_only ON events;
CREATE TRIGGER events_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF id, occurred_at, topic, partner_id, environment, room_id
  ON events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_resealed_only BEFORE UPDATE OF event_id, subject ON events
  FOR EACH ROW WHEN (NOT starts_with(OLD.topic, 'room.')) EXECUTE FUNCTION refuse_change();

-- A record of a trail is stored without its envelope's code; its hash and MAC are over the record with it.
ALTER TABLE envelope_events DROP CONSTRAINT envelope_events_check;
ALTER TABLE envelope_events DISABLE TRIGGER envelope_events_append_only;
UPDATE envelope_events t SET record = replace(t.record, '"envelope":"' || e.verify_code || '"', '"envelope":null')
  FROM envelopes e WHERE e.id = t.envelope_id;
ALTER TABLE envelope_events ENABLE TRIGGER envelope_events_append_only;
