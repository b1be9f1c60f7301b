-- What `key revoke` asks: who was linked by a key, and which webhooks somebody made.
CREATE INDEX audit_log_of_access ON audit_log (partner_id, action)
WHERE action IN ('member.linked', 'member.live_access_changed', 'webhook.created');
