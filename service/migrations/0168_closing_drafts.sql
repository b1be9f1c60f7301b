-- Older nodes: go on.
-- Closings that members have begun in the form and have not placed. `files` has the token hashes of the uploaded files, so that files of a
-- discarded draft are deleted unless another draft uses them.
CREATE TABLE closing_drafts (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- Encrypted: the owner and the fields of the form. Null after the end.
  fields bytea,
  files bytea[] NOT NULL DEFAULT '{}',
  version int NOT NULL DEFAULT 1,
  -- The browser window that saved the draft last.
  saved_in uuid NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  CHECK ((ended_at IS NULL) = (fields IS NOT NULL))
);
CREATE INDEX closing_drafts_of_member ON closing_drafts (user_id, updated_at DESC) WHERE ended_at IS NULL;
CREATE INDEX closing_drafts_by_file ON closing_drafts USING gin (files) WHERE ended_at IS NULL;
CREATE INDEX closing_drafts_by_end ON closing_drafts (expires_at);
