-- What a key made, for its page: who did it is in the audit log.
CREATE INDEX audit_log_made_by_key ON audit_log (actor, action)
WHERE actor LIKE 'key:%'
  AND action IN ('order.created', 'room.created', 'passport.sealed', 'room.passport_sealed', 'webhook.created');
