-- What members note of an order for their own firm, encrypted; deleted with the name of its document.
CREATE TABLE firm_notes (
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  author text NOT NULL,
  text bytea NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX firm_notes_of_order ON firm_notes (order_id, created_at);
-- The mails that went to an order's client.
CREATE TABLE client_mails (
  order_id bigint NOT NULL REFERENCES orders (id),
  moment text NOT NULL,
  caused_at timestamptz NOT NULL,
  sent_at timestamptz NOT NULL,
  PRIMARY KEY (order_id, moment, caused_at)
);
