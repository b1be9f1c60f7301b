-- Older nodes: go on.
-- People can switch the mails about the first download of documents that were delivered off.
ALTER TABLE mail_switches DROP CONSTRAINT mail_switches_kind_check,
  ADD CONSTRAINT mail_switches_kind_check CHECK (kind IN ('orders', 'closings', 'downloads', 'statements'));
ALTER TABLE mail_link_series DROP CONSTRAINT mail_link_series_kind_check,
  ADD CONSTRAINT mail_link_series_kind_check CHECK (kind IN ('orders', 'closings', 'downloads', 'statements'));
