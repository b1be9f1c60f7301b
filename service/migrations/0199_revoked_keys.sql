-- Older nodes: go on.
-- Who revoked a key, for its page.
CREATE INDEX audit_log_revoked_keys ON audit_log ((detail ->> 'keyId')) WHERE action = 'key.revoked';
