-- Older nodes: stop.
-- When a notary can be met for an electronic act, and where; and the appointments that clients book.
CREATE TABLE notary_hours (
  notary_id uuid PRIMARY KEY REFERENCES notaries (id),
  -- An IANA zone: hours are local, through changes of daylight saving.
  zone text NOT NULL CHECK (char_length(zone) BETWEEN 1 AND 60),
  -- Seven lists of [from, to], from Sunday; and lists for single days, which replace those of the week.
  weekly jsonb NOT NULL,
  exceptions jsonb NOT NULL,
  -- Where people meet the notary: by audio and video, and in person. Null: not offered.
  meeting_url text CHECK (char_length(meeting_url) <= 1000),
  place text CHECK (char_length(place) <= 300),
  updated_at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36)
);

CREATE TABLE notary_sessions (
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  notary_id uuid NOT NULL REFERENCES notaries (id),
  mode text NOT NULL CHECK (mode IN ('ron', 'ipen')),
  starts_at timestamptz NOT NULL,
  zone text NOT NULL,
  meeting_point text NOT NULL CHECK (char_length(meeting_point) <= 1000),
  -- Of the invitation: calendars replace an entry by one with a higher number.
  sequence int NOT NULL DEFAULT 0 CHECK (sequence >= 0),
  state text NOT NULL DEFAULT 'scheduled' CHECK (state IN ('scheduled', 'canceled', 'ended')),
  outcome text CHECK (outcome IN ('done', 'refused', 'no_show', 'technical')),
  booked_at timestamptz NOT NULL,
  ended_at timestamptz,
  -- How many reminders were sent or are past: 24 hours, 1 hour and 10 minutes before.
  reminded int NOT NULL DEFAULT 0 CHECK (reminded BETWEEN 0 AND 3),
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((state = 'scheduled') = (ended_at IS NULL)),
  CHECK ((state = 'ended') = (outcome IS NOT NULL))
);
CREATE UNIQUE INDEX notary_sessions_of_order ON notary_sessions (order_id) WHERE state = 'scheduled';
CREATE INDEX notary_sessions_history ON notary_sessions (order_id, booked_at);
CREATE INDEX notary_sessions_of_notary ON notary_sessions (notary_id, starts_at) WHERE state = 'scheduled';

-- The link by which somebody who is to appear books, moves and cancels: the order's code is known to others, too.
CREATE TABLE appointment_links (
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  -- Which of those who are to appear, from 1.
  person int NOT NULL CHECK (person BETWEEN 1 AND 10),
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  created_at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (order_id, person)
);
