-- Older nodes: go on.
-- The form that a kept file came with: files of closings leave those of order forms their places.
ALTER TABLE fill_documents ADD COLUMN kept_form text NOT NULL DEFAULT 'order' CHECK (kept_form IN ('order', 'closing'));
