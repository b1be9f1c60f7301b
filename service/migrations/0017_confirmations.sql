-- When a person was last shown to be the one whom the session is of: by signing in, or by confirming it since.
ALTER TABLE sessions ADD COLUMN confirmed_at timestamptz;
UPDATE sessions SET confirmed_at = created_at;
ALTER TABLE sessions ALTER COLUMN confirmed_at SET NOT NULL;

-- The code that was last mailed for a session. It is made anew from `code_id` when it is mailed and when it is typed: no table holds it.
-- `wrong` counts what was typed wrongly, whichever code was open.
CREATE TABLE confirmation_codes (
  session_id uuid PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
  code_id uuid NOT NULL UNIQUE,
  wrong smallint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
