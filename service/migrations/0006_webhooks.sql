-- Who is told of what. A deleted subscription stays for the history of its deliveries, without secrets.
CREATE TABLE webhooks (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  url text NOT NULL CHECK (url ~* '^https://'),
  topics text[] NOT NULL CHECK (cardinality(topics) > 0),
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz
);
CREATE INDEX webhooks_present ON webhooks (partner_id, environment, created_at DESC, id DESC) WHERE deleted_at IS NULL;

-- `hash` is the SHA-256 of a secret and the key that signs: encrypted, with the subscription's id as its context. The
-- secret in use has no end; those before it sign on until theirs.
CREATE TABLE webhook_secrets (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_id uuid NOT NULL REFERENCES webhooks (id),
  hash bytea NOT NULL,
  expires_at timestamptz
);
CREATE UNIQUE INDEX webhook_secrets_in_use ON webhook_secrets (webhook_id) WHERE expires_at IS NULL;
CREATE INDEX webhook_secrets_of_webhook ON webhook_secrets (webhook_id, id);
CREATE INDEX webhook_secrets_expiring ON webhook_secrets (expires_at) WHERE expires_at IS NOT NULL;

-- One row for each time that one subscription is told of one event. While `leased_until` is ahead, a node is at it.
CREATE TABLE webhook_deliveries (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  event bigint NOT NULL REFERENCES events (id),
  webhook_id uuid NOT NULL REFERENCES webhooks (id),
  partner_id uuid NOT NULL,
  environment text NOT NULL,
  topic text NOT NULL,
  order_code text,
  replayed_from uuid,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts int NOT NULL DEFAULT 0,
  leased_until timestamptz,
  last_status_code int,
  duration_ms int,
  reason text,
  created_at timestamptz NOT NULL,
  completed_at timestamptz,
  CHECK ((state = 'pending') = (completed_at IS NULL))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (event, webhook_id) WHERE replayed_from IS NULL;
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, seq) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, seq);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (partner_id, environment, seq);
CREATE INDEX webhook_deliveries_by_topic ON webhook_deliveries (partner_id, environment, topic, seq);
CREATE INDEX webhook_deliveries_by_order ON webhook_deliveries (partner_id, environment, order_code, seq)
  WHERE order_code IS NOT NULL;
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (partner_id, environment, seq) WHERE state = 'failed';

-- An event and its deliveries commit together: none is lost and none is made twice, whatever falls over afterwards.
CREATE FUNCTION queue_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, order_code, created_at)
  SELECT NEW.id, id, partner_id, environment, NEW.topic,
    CASE WHEN NEW.topic IN ('order.created', 'payment.cleared', 'signature.completed', 'shipment.delivered',
      'room.order_attached') THEN NEW.subject END,
    NEW.occurred_at
  FROM webhooks
  WHERE partner_id = NEW.partner_id AND environment = NEW.environment AND deleted_at IS NULL AND active
    AND NEW.topic = ANY (topics);
  RETURN NULL;
END $$;

CREATE TRIGGER events_queue_deliveries AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION queue_deliveries();
