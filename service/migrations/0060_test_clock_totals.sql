-- How far a partner's test clock was moved in all, this advance and those before it: what was leapt since an instant is the difference of
-- two rows, however many lie between. Advances are in the order of (advanced_at, id); of a reset the last row before it tells.
ALTER TABLE test_clock_advances ADD COLUMN total_seconds bigint;
UPDATE test_clock_advances a SET total_seconds = t.total
FROM (SELECT id, sum(seconds) OVER (PARTITION BY partner_id ORDER BY advanced_at, id) AS total FROM test_clock_advances) t
WHERE t.id = a.id;
ALTER TABLE test_clock_advances ALTER COLUMN total_seconds SET NOT NULL;
DROP INDEX test_clock_advances_of_partner;
CREATE INDEX test_clock_advances_of_partner ON test_clock_advances (partner_id, advanced_at, id) INCLUDE (total_seconds);
CREATE INDEX test_clock_advances_reset ON test_clock_advances (partner_id, advanced_at, id) WHERE reset_at IS NOT NULL;
CREATE INDEX test_clock_advances_unsettled ON test_clock_advances (partner_id, id) WHERE settled_at IS NULL;
