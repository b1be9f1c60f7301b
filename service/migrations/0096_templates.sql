-- Older nodes: stop.
-- They would sweep the documents of templates: no table that they know refers to them.
-- The document types of firms. A version never changes, so an order can name the one that it was placed with.
CREATE TABLE templates (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  created_at timestamptz NOT NULL,
  -- An archived template places no orders; it can be restored.
  archived_at timestamptz
);
CREATE INDEX templates_of_firm ON templates (partner_id, environment, created_at DESC, id DESC);

CREATE TABLE template_versions (
  id uuid PRIMARY KEY,
  template_id uuid NOT NULL REFERENCES templates (id),
  version int NOT NULL CHECK (version BETWEEN 1 AND 1000),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 120),
  -- JSON texts, so that the MAC covers them as they were written.
  content text NOT NULL,
  prints text NOT NULL,
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint NOT NULL CHECK (bytes > 0),
  pages int NOT NULL CHECK (pages > 0),
  blob_key text NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  row_mac bytea NOT NULL CHECK (length(row_mac) = 36),
  UNIQUE (template_id, version)
);
CREATE TRIGGER template_versions_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF id, template_id, version, name,
  content, prints, sha256, bytes, pages, blob_key, created_by, created_at
  ON template_versions FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE order_templates (
  order_id bigint PRIMARY KEY REFERENCES orders (id),
  template_id uuid NOT NULL,
  version int NOT NULL,
  row_mac bytea NOT NULL CHECK (length(row_mac) = 36),
  FOREIGN KEY (template_id, version) REFERENCES template_versions (template_id, version)
);
CREATE INDEX order_templates_of_version ON order_templates (template_id, version);
CREATE TRIGGER order_templates_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF order_id, template_id, version
  ON order_templates FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
