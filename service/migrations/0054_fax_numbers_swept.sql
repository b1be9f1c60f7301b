-- Whom a fax was sent to is deleted with the other records of providers: the text is empty then.
CREATE INDEX fax_attempts_to_sweep ON fax_attempts (created_at) WHERE fax_to <> '';
