-- Codes that signers get by text message.
ALTER TABLE envelope_signers ADD COLUMN phone text;
ALTER TABLE envelope_signers DROP CONSTRAINT envelope_signers_auth_check;
ALTER TABLE envelope_signers ADD CONSTRAINT envelope_signers_auth_check
  CHECK (auth IN ('link', 'mail_code', 'access_code', 'text_code') AND (auth <> 'text_code' OR phone IS NOT NULL));

-- When a code was texted to which number, of the last day: numbers have their bounds, whichever order is about them.
CREATE TABLE signing_texts (
  phone text NOT NULL,
  sent_at timestamptz NOT NULL
);
CREATE INDEX signing_texts_phone ON signing_texts (phone, sent_at);
