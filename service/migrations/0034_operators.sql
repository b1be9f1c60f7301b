-- People who run the service, in the console. They sign in as all `users` do. A row stays when its person has gone: it says who did what.
CREATE TABLE operators (
  user_id uuid PRIMARY KEY REFERENCES users (id),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  roles text[] NOT NULL CHECK (
    cardinality(roles) > 0 AND roles <@ ARRAY['agent', 'notary', 'shipper', 'approver', 'admin', 'auditor']
  ),
  active boolean NOT NULL DEFAULT true,
  added_at timestamptz NOT NULL
);

-- What the console shows in a session; `environment` is what the dashboard shows.
ALTER TABLE sessions
  ADD COLUMN console_environment text NOT NULL DEFAULT 'live' CHECK (console_environment IN ('live', 'test'));
