-- Older nodes: stop.
-- One of them would leave the turn of a signer open on a device with several documents.
-- A device that goes from signer to signer has a row for each document that is signed on it. The rows share its token.
ALTER TABLE sittings DROP CONSTRAINT sittings_token_sha256_key;
ALTER TABLE sittings ADD UNIQUE (token_sha256, envelope_id);
