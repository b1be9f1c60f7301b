-- Older nodes: go on.
-- Owners can switch the mails about new statements off.
ALTER TABLE mail_switches DROP CONSTRAINT mail_switches_kind_check,
  ADD CONSTRAINT mail_switches_kind_check CHECK (kind IN ('orders', 'closings', 'statements'));
