-- Older nodes: go on.
-- The oldest schema that a node may know and still write. Only migrations change it; they also make the triggers that hold nodes to it.
CREATE TABLE schema_fence (
  one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
  minimum integer NOT NULL
);
INSERT INTO schema_fence (minimum) VALUES (0);
