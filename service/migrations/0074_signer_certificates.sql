-- Every certificate that an authority of signers issued, for the lists of those that are revoked: a thousand to a list.
CREATE TABLE signer_certificates (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  authority text NOT NULL CHECK (authority ~ '^[0-9a-f]{32}$'),
  serial bytea NOT NULL UNIQUE CHECK (octet_length(serial) = 16),
  issued_at timestamptz NOT NULL,
  -- Null for the certificate of an act without a time stamp: it is not revoked.
  revoked_at timestamptz,
  -- Whether its list names it.
  listed boolean NOT NULL DEFAULT false
);
CREATE INDEX signer_certificates_to_list ON signer_certificates (authority, revoked_at)
  WHERE NOT listed AND revoked_at IS NOT NULL;

-- The lists as they were issued last; `der` is null until the first one is signed.
CREATE TABLE signer_crls (
  authority text NOT NULL,
  list integer NOT NULL,
  number bigint NOT NULL DEFAULT 0,
  this_update timestamptz NOT NULL DEFAULT '-infinity',
  der bytea,
  PRIMARY KEY (authority, list)
);
CREATE INDEX signer_crls_by_age ON signer_crls (authority, this_update);
