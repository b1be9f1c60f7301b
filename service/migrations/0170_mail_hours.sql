-- Older nodes: go on.
-- The hours in which a person gets mails that can wait: from 7 AM to 9 PM in this zone, or at any hour where the zone is null. A person
-- without a row gets them in the hours of US Eastern Time.
CREATE TABLE mail_hours (
  user_id uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  time_zone text CHECK (char_length(time_zone) BETWEEN 1 AND 64),
  set_at timestamptz NOT NULL
);
