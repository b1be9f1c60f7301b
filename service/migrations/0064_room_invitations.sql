-- When a participant was last mailed the room's link; kept of who was removed, for the bounds.
ALTER TABLE room_participants ADD COLUMN invited_at timestamptz;
