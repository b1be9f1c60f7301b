-- Requests for partner access as they were sent. `reasons` are what screening found, for the operator alone.
-- `sealed_key` holds the issued key, encrypted, only until it was mailed.
CREATE TABLE access_requests (
  id uuid PRIMARY KEY,
  firm_name text NOT NULL,
  contact_name text NOT NULL,
  work_email text NOT NULL,
  role text,
  expected_volume text,
  use_case text,
  status text NOT NULL CHECK (status IN ('issued', 'pending', 'declined')),
  reasons text[] NOT NULL,
  partner_id uuid REFERENCES partners (id),
  sealed_key bytea,
  created_at timestamptz NOT NULL,
  decided_at timestamptz,
  mailed_at timestamptz,
  CHECK ((status = 'pending') = (decided_at IS NULL)),
  CHECK (status = 'issued' OR (partner_id IS NULL AND sealed_key IS NULL))
);
CREATE UNIQUE INDEX access_requests_one_key ON access_requests (lower(work_email)) WHERE status = 'issued';
CREATE INDEX access_requests_pending ON access_requests (created_at, id) WHERE status = 'pending';
CREATE INDEX access_requests_decided ON access_requests (decided_at DESC, id DESC) WHERE status <> 'pending';
