-- Older nodes: go on.
-- A firm that wants time to look between two services of an order. Without a row the service's own setting holds.
CREATE TABLE service_pauses (
  partner_id uuid PRIMARY KEY REFERENCES partners (id),
  minutes int NOT NULL CHECK (minutes BETWEEN 1 AND 1440)
);
