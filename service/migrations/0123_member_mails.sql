-- Older nodes: go on.
-- The kinds of mail that a member switched off.
CREATE TABLE mail_switches (
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('orders', 'closings')),
  switched_off_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, kind)
);

-- Statuses of orders that members placed, until a mail tells of them. The mail reads the order and the audit log again: a row here
-- is only a reason to look.
CREATE TABLE order_news (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  -- `member:ID`
  placed_by text NOT NULL,
  status text NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX order_news_of_member ON order_news (placed_by, environment, at);

-- When a member was last mailed about orders: the next mail waits, and tells of all that happened since.
CREATE TABLE order_news_mails (
  placed_by text NOT NULL,
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  mailed_at timestamptz NOT NULL,
  PRIMARY KEY (placed_by, environment)
);

-- The business days on which members were mailed their closings.
CREATE TABLE closing_mornings (day date PRIMARY KEY);
