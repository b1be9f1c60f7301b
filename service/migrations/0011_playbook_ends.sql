-- Who ended an execution: `callback`, `operator`, or `system` when nobody did in time.
ALTER TABLE playbook_executions ADD COLUMN ended_by text;
UPDATE playbook_executions e SET ended_by = a.actor FROM audit_log a
  WHERE a.action IN ('playbook.decided', 'playbook.expired') AND a.detail->>'executionName' = 'executions/' || e.id;
UPDATE playbook_executions SET ended_by = 'system' WHERE outcome IS NOT NULL AND ended_by IS NULL;
ALTER TABLE playbook_executions ADD CHECK ((outcome IS NULL) = (ended_by IS NULL));
CREATE INDEX playbook_executions_ended ON playbook_executions (completed_at DESC, id DESC) WHERE outcome IS NOT NULL;
