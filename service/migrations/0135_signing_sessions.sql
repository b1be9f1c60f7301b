-- Older nodes: stop.
-- They would leave a replaced signer in a session, and a session's link as it was when a signer's link is replaced.
-- One person who signs several orders of a room: one link, one access step, one consent. `room_id` is the id of that room.
CREATE TABLE signing_sessions (
  id uuid PRIMARY KEY,
  room_id uuid NOT NULL,
  -- A digest of the name, the address and the access step: a signer whose row has others leaves the session.
  person_sha256 bytea NOT NULL CHECK (length(person_sha256) = 32),
  -- The link is a credential: only its hash is stored. The token is derived from `link_id` when it is mailed.
  link_id uuid NOT NULL,
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  -- Of the browser that passed the access step.
  session_sha256 bytea CHECK (length(session_sha256) = 32),
  session_expires_at timestamptz,
  identified_at timestamptz,
  -- The text that the person consented to: `{version, language, textSha256, at}`.
  consent jsonb,
  created_at timestamptz NOT NULL,
  -- The mail that last reminded the person, and when.
  reminded_by text,
  reminded_at timestamptz,
  state_version int NOT NULL DEFAULT 1,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((session_sha256 IS NULL) = (session_expires_at IS NULL))
);
CREATE INDEX signing_sessions_of_room ON signing_sessions (room_id);
CREATE TRIGGER signing_sessions_next_state BEFORE UPDATE ON signing_sessions FOR EACH ROW WHEN (
  (OLD.id, OLD.room_id, OLD.person_sha256, OLD.link_id, OLD.token_sha256, OLD.session_sha256, OLD.session_expires_at,
    OLD.identified_at, OLD.consent, OLD.created_at, OLD.state_version)
  IS DISTINCT FROM
  (NEW.id, NEW.room_id, NEW.person_sha256, NEW.link_id, NEW.token_sha256, NEW.session_sha256, NEW.session_expires_at,
    NEW.identified_at, NEW.consent, NEW.created_at, NEW.state_version))
  EXECUTE FUNCTION next_state_version();
CREATE TRIGGER signing_sessions_stay BEFORE DELETE OR UPDATE OF id, room_id, person_sha256 ON signing_sessions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The person's place among the signers of each document.
CREATE TABLE session_signers (
  signer_id bigint PRIMARY KEY REFERENCES envelope_signers (id),
  session_id uuid NOT NULL REFERENCES signing_sessions (id),
  n int NOT NULL CHECK (n >= 1),
  -- The mails that asked for this signature, and that brought the copy.
  asked_by text,
  copied_by text,
  -- The pass of the access step that the document's trail names.
  cited_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (session_id, n)
);
