-- Older nodes: go on.
-- The mail that tells a person of the notarized document. No MAC covers it: its forgery only suppresses or repeats a mail.
ALTER TABLE session_signers ADD COLUMN notarized_by text;
