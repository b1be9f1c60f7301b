-- Older nodes: go on.
-- The room's link can be mailed to each address that a participant has in turn, so the earlier ones count toward the room's daily limit.
ALTER TABLE room_participants ADD COLUMN earlier_invitations jsonb NOT NULL DEFAULT '[]';
