-- Older nodes: go on.
-- Documents of an archived template are deleted only when the audit log has its archiving, and no restoring since.
CREATE INDEX audit_log_template_archives ON audit_log ((detail ->> 'templateId'))
  WHERE action IN ('template.archived', 'template.restored');
