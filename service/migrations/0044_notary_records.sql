-- The first days on which a commission and a registration count, where they are known.
ALTER TABLE notaries ADD COLUMN commission_starts date CHECK (commission_starts <= commission_expires);
ALTER TABLE notaries ADD COLUMN ron_starts date CHECK (ron_starts IS NULL OR ron_registration IS NOT NULL AND ron_starts <= ron_expires);

-- Where a journal ends, by the audit log: the last line of each notary is asked for.
CREATE INDEX audit_log_journal ON audit_log ((detail ->> 'notary'), id) WHERE action = 'notary_journal.entry';
