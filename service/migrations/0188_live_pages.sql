-- Older nodes: go on.
-- For keys of the test mode: each request asks whether a payment page was opened with a live key. Where no live key was ever
-- used, the index is empty.
CREATE INDEX checkout_sessions_live_pages ON checkout_sessions (created_at) WHERE starts_with(session_id, 'cs_live_');
