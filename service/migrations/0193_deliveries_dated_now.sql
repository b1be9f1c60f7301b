-- Older nodes: go on.
-- A reported event can be older than its delivery, such as a parcel's arrival on an earlier day. The delivery is dated when it is queued.
CREATE OR REPLACE FUNCTION queue_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, order_id, created_at)
  SELECT NEW.id, id, partner_id, environment, NEW.topic, NEW.order_id, greatest(NEW.occurred_at, now())
  FROM webhooks
  WHERE partner_id = NEW.partner_id AND environment = NEW.environment AND deleted_at IS NULL AND active
    AND NEW.topic = ANY (topics);
  RETURN NULL;
END $$;
