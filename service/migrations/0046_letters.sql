-- Letters that Lob accepted: how each is printed and mailed, and when what first happened to it.
CREATE TABLE letters (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  attempt int NOT NULL CHECK (attempt > 0),
  -- By which Lob knows it.
  letter_id text NOT NULL UNIQUE,
  mail_class text NOT NULL CHECK (mail_class IN ('certified', 'certified_return_receipt', 'standard')),
  doc_sha256 text NOT NULL,
  pages int NOT NULL,
  double_sided boolean NOT NULL,
  tracking_number text,
  expected_delivery date,
  -- Until then it can be cancelled.
  send_at timestamptz,
  accepted_at timestamptz NOT NULL,
  -- Since when the house wants it cancelled.
  recalled_at timestamptz,
  mailed_at timestamptz,
  rerouted_at timestamptz,
  trouble_at timestamptz,
  delivered_at timestamptz,
  returned_at timestamptz,
  failed_at timestamptz,
  cancelled_at timestamptz,
  UNIQUE (order_id, attempt)
);
