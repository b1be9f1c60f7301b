-- What a document to be signed has that people may not see, as JSON, encrypted: it quotes the document. NULL: nothing was found, or the
-- order is older than this. It is forgotten with the document.
ALTER TABLE orders ADD COLUMN document_notices bytea;
