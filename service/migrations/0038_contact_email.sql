-- Where a firm's clients and signers reach it: answers to our mails go there, and signing pages show it.
ALTER TABLE partners ADD COLUMN contact_email text CHECK (contact_email ~ '^[^[:space:][:cntrl:]@]+@[^[:space:][:cntrl:]@]+$');
