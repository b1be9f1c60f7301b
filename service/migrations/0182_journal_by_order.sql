-- Older nodes: go on.
-- Whether a notarized document replaces a signed one is in the journal's entry about the act, which is found by its order.
CREATE INDEX notary_journal_order ON notary_journal (order_id);
