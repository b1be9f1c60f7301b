-- Older nodes: stop.
-- People may meet in a room of this service: such an appointment has no address of its own.
ALTER TABLE notary_sessions ALTER COLUMN meeting_point DROP NOT NULL;
ALTER TABLE notary_sessions ADD CHECK (meeting_point IS NOT NULL OR mode = 'ron');
