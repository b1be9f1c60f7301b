-- Older nodes: go on.
-- How often a person has switched a kind of mail on again. The tokens of unsubscribe links contain it, so that the links
-- in earlier mails end.
CREATE TABLE mail_link_series (
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('orders', 'closings', 'statements')),
  n integer NOT NULL CHECK (n > 0),
  PRIMARY KEY (user_id, kind)
);
