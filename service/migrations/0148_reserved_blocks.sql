-- Older nodes: go on.
-- The empty field for the notary in a document that is signed first and notarized afterwards. A node of the release
-- before reserves none, and the notary's signature then adds its own field.
CREATE TABLE envelope_blocks (
  envelope_id bigint PRIMARY KEY REFERENCES envelopes (id),
  -- The field's name, object and size.
  block jsonb NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36)
);
