-- Whether a member works in live, too, where the firm has live; without it the person's sessions are in test. It comes from showing
-- a live key (`live_key_id`), from an owner who has it, or from the operator. Of memberships from before, those that a live
-- key made keep it; a test key never proved more than test.
ALTER TABLE members
  ADD COLUMN live_access boolean NOT NULL DEFAULT false,
  ADD COLUMN live_key_id uuid REFERENCES partner_keys (id);
UPDATE members m SET live_access = true, live_key_id = m.key_id
FROM partner_keys k WHERE k.id = m.key_id AND k.environment = 'live' AND k.partner_id = m.partner_id;
