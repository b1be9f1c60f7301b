-- Older nodes: stop.
-- Who issues receipts (no firm), and for whom: each change is a new row, so that a document keeps the names it was issued with.
CREATE TABLE billing_parties (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id uuid REFERENCES partners (id),
  content jsonb NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE INDEX billing_parties_newest ON billing_parties (partner_id, id DESC);
CREATE TRIGGER billing_parties_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF id, partner_id, content, created_by, created_at
  ON billing_parties FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Receipts and credit notes. Amounts are those of the payment: only the part that a partial refund returned is stored here.
CREATE TABLE billing_documents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  kind text NOT NULL CHECK (kind IN ('receipt', 'credit_note')),
  year int NOT NULL,
  number int NOT NULL CHECK (number > 0),
  payment_id bigint NOT NULL REFERENCES payments (id),
  -- The refund's name: 'whole', the id of its request, or the processor's id. Each refund of a payment has one note.
  refund text,
  part_cents bigint CHECK (part_cents > 0),
  -- Never before an earlier document of the firm, and never in a month that is closed.
  booked_at timestamptz NOT NULL,
  issuer_id bigint REFERENCES billing_parties (id),
  buyer_id bigint REFERENCES billing_parties (id),
  buyer_name text NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (partner_id, environment, kind, year, number),
  CHECK ((kind = 'receipt') = (refund IS NULL)),
  CHECK (part_cents IS NULL OR refund <> 'whole'),
  CHECK (kind = 'receipt' OR refund = 'whole' OR part_cents IS NOT NULL)
);
CREATE UNIQUE INDEX billing_documents_of_payment ON billing_documents (payment_id, coalesce(refund, ''));
CREATE INDEX billing_documents_by_time ON billing_documents (partner_id, environment, booked_at);
CREATE TRIGGER billing_documents_append_only BEFORE DELETE OR TRUNCATE
  OR UPDATE OF id, partner_id, environment, kind, year, number, payment_id, refund, part_cents, booked_at, issuer_id, buyer_id, buyer_name
  ON billing_documents FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Earlier payments are numbered oldest first, in the year (New York) in which the money came or went back. A refund that
-- came before its payment is a note about it, and no second payment. An approved part counts as returned when it was approved.
WITH received AS (
  SELECT p.id, p.amount_cents, p.received_at, p.refunded_at, o.partner_id, o.environment, f.name
  FROM payments p JOIN orders o ON o.id = p.order_id JOIN partners f ON f.id = o.partner_id
  WHERE NOT (p.session_id = 'intent:' || p.payment_intent AND p.refunded_at = p.received_at AND p.refunded_at IS NOT NULL)
), parts AS (
  SELECT q.id, r.id::text AS refund, (held ->> 'amountCents')::bigint AS cents, r.decided_at, q.partner_id, q.environment, q.name
  FROM refund_requests r CROSS JOIN LATERAL jsonb_array_elements(r.payments) held JOIN received q ON q.id = (held ->> 'id')::bigint
  WHERE r.part AND r.state = 'approved' AND held -> 'unapplied' IS NULL AND (held ->> 'amountCents')::bigint > 0
    AND (q.refunded_at IS NULL OR r.decided_at < q.refunded_at)
), issued AS (
  SELECT 'receipt' AS kind, id, NULL AS refund, NULL::bigint AS cents, received_at AS at, partner_id, environment, name FROM received
  UNION ALL SELECT 'credit_note', id, refund, cents, decided_at, partner_id, environment, name FROM parts
  UNION ALL
  SELECT 'credit_note', id, 'whole', NULL, refunded_at, partner_id, environment, name FROM received
  WHERE refunded_at IS NOT NULL
    AND amount_cents > coalesce((SELECT sum(cents) FROM parts WHERE parts.id = received.id), 0)
)
INSERT INTO billing_documents (partner_id, environment, kind, year, number, payment_id, refund, part_cents, booked_at, buyer_name)
SELECT partner_id, environment, kind, year,
  row_number() OVER (PARTITION BY partner_id, environment, kind, year ORDER BY at, id, refund), id, refund, cents, at, name
FROM (SELECT *, extract(year FROM at AT TIME ZONE 'America/New_York')::int AS year FROM issued) numbered
ORDER BY at, id, refund NULLS FIRST;

-- Closed months: where each ends and who it was issued to. Its lines are the documents that were booked in it, its figures their sums.
CREATE TABLE billing_statements (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  month text NOT NULL CHECK (month ~ '^[0-9]{4}-[01][0-9]$'),
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL CHECK (ends_at > starts_at),
  zone text NOT NULL,
  issuer_id bigint REFERENCES billing_parties (id),
  buyer_id bigint REFERENCES billing_parties (id),
  buyer_name text NOT NULL,
  closed_at timestamptz NOT NULL CHECK (closed_at >= ends_at),
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (partner_id, environment, month),
  UNIQUE (partner_id, environment, starts_at)
);
CREATE TRIGGER billing_statements_append_only BEFORE DELETE OR TRUNCATE
  OR UPDATE OF id, partner_id, environment, month, starts_at, ends_at, zone, issuer_id, buyer_id, buyer_name, closed_at
  ON billing_statements FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
-- Each line of a statement asks for the events of its payment.
CREATE INDEX processor_events_of_order ON processor_events (order_id, received_at) WHERE order_id IS NOT NULL;
