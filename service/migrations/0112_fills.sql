-- Older nodes: go on.
-- Forms that clients fill in online. What they type is encrypted, and deleted once it is in the document.
CREATE TABLE fills (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  template_id uuid NOT NULL,
  version int NOT NULL,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'completed', 'canceled')),
  -- Encrypted: whose it is, its template, the questions, and the person who is asked.
  form bytea NOT NULL,
  -- Encrypted: the answers so far. Null before the first one, and after the end.
  answers bytea,
  -- Counts the changes of the answers: of two pages that are open at once, the older one saves nothing unseen.
  revision int NOT NULL DEFAULT 0,
  mails int NOT NULL DEFAULT 0,
  created_by text NOT NULL CHECK (char_length(created_by) BETWEEN 1 AND 100),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((state = 'open') = (ended_at IS NULL)),
  CHECK (state = 'open' OR answers IS NULL),
  FOREIGN KEY (template_id, version) REFERENCES template_versions (template_id, version)
);
CREATE INDEX fills_of_firm ON fills (partner_id, environment, created_at DESC, id DESC);
CREATE INDEX fills_open ON fills (expires_at) WHERE state = 'open';
CREATE INDEX fills_of_version ON fills (template_id, version);

-- A document that was filled in from a firm's template is that firm's alone. Null for one that an operator handed in.
ALTER TABLE fill_documents
  ADD COLUMN for_partner uuid REFERENCES partners (id),
  ADD COLUMN for_environment text CHECK (for_environment IN ('live', 'test')),
  ADD COLUMN template_id uuid,
  ADD COLUMN template_version int,
  ADD CHECK (num_nonnulls(for_partner, for_environment, template_id, template_version) IN (0, 4));
