-- Each event's place among its firm's events of an environment. The row is written with the event; the place is given once, before the
-- event is first sent or read. Events of before have no row, and no place.
CREATE TABLE event_chain (
  event bigint PRIMARY KEY REFERENCES events (id),
  partner_id uuid NOT NULL,
  environment text NOT NULL,
  position bigint CHECK (position > 0),
  head bytea CHECK (octet_length(head) = 32),
  CHECK ((position IS NULL) = (head IS NULL))
);
CREATE UNIQUE INDEX event_chain_places ON event_chain (partner_id, environment, position) WHERE position IS NOT NULL;
CREATE INDEX event_chain_waiting ON event_chain (partner_id, environment, event) WHERE position IS NULL;

CREATE FUNCTION chain_new_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO event_chain (event, partner_id, environment) SELECT id, partner_id, environment FROM fresh;
  RETURN NULL;
END $$;

CREATE TRIGGER events_chain AFTER INSERT ON events REFERENCING NEW TABLE AS fresh
  FOR EACH STATEMENT EXECUTE FUNCTION chain_new_events();

-- What was sent and answered, without the body that was sent: encrypted, with `seq` as its context. It goes with its delivery.
ALTER TABLE webhook_deliveries ADD COLUMN exchange bytea;
ALTER TABLE webhook_deliveries ALTER COLUMN exchange SET STORAGE EXTERNAL;

-- A run of failures: how many in a row, since when, and when the firm's owners were sent a mail about it.
ALTER TABLE webhooks ADD COLUMN failures int NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN failing_since timestamptz;
ALTER TABLE webhooks ADD COLUMN alerted_at timestamptz;
CREATE INDEX webhooks_failing ON webhooks (partner_id, environment) WHERE alerted_at IS NOT NULL AND deleted_at IS NULL;

-- The Ed25519 key that signs a firm's deliveries of an environment: PKCS #8, encrypted, with `partner_id:environment` as its context.
CREATE TABLE webhook_keys (
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  private_key bytea NOT NULL,
  PRIMARY KEY (partner_id, environment)
);
