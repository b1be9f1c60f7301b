-- Older nodes: go on.
-- The orders that one mail to a client covers: in a closing, one mail is about all documents that have reached a moment.
CREATE TABLE client_mail_claims (
  order_id bigint NOT NULL REFERENCES orders (id),
  moment text NOT NULL,
  -- The order and the time of the job that sends the mail.
  mail text NOT NULL,
  claimed_at timestamptz NOT NULL,
  PRIMARY KEY (order_id, moment)
);
