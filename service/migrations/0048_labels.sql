-- What a carrier itself named for the postage line of an order's quote: carrier, service, cents, and what the address is to it.
ALTER TABLE orders ADD COLUMN carrier_rate jsonb;

-- Carriers' labels of live orders. `number` counts those of an order; `attempt` counts how often the order came to be shipped.
CREATE TABLE labels (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  number int NOT NULL CHECK (number > 0),
  attempt int NOT NULL CHECK (attempt > 0),
  -- Prepared by free requests, then bought by an act. Withdrawn: the order went elsewhere first.
  state text NOT NULL DEFAULT 'preparing' CHECK (state IN ('preparing', 'buying', 'bought', 'not_bought', 'withdrawn')),
  -- Which operator had it bought; null where nobody was asked.
  ordered_by text,
  -- It is bought for so much at most, US cents; null where no postage was quoted.
  most_cents int,
  shipment_id text,
  rate_id text,
  carrier text,
  service text,
  cents int,
  tracking_number text,
  tracker_id text,
  label_url text,
  -- Of the PDF, which is a document of the order.
  file_sha256 text,
  -- Why it was not bought.
  why text,
  -- All that was ever said of the parcel.
  seen text[] NOT NULL DEFAULT '{}',
  signed_by text,
  refund_state text CHECK (refund_state IN ('intended', 'submitted', 'refunded', 'rejected', 'not_applicable')),
  created_at timestamptz NOT NULL,
  bought_at timestamptz,
  -- When the parcel, or the refund of its postage, is asked for next.
  ask_at timestamptz,
  UNIQUE (order_id, number),
  CHECK ((state = 'bought') = (bought_at IS NOT NULL)),
  CHECK (state <> 'bought' OR num_nulls(shipment_id, carrier, service, cents, tracking_number) = 0)
);
CREATE UNIQUE INDEX labels_of_tracker ON labels (tracker_id) WHERE tracker_id IS NOT NULL;

ALTER TABLE documents DROP CONSTRAINT documents_kind_check;
ALTER TABLE documents ADD CONSTRAINT documents_kind_check
  CHECK (kind IN ('original', 'revision', 'sealed', 'notarized', 'custody_certificate', 'fax_report', 'shipping_label'));
