-- Older nodes: stop.
-- How a signer came to the signing page. The event's MAC covers it, so an older node would take such an event for an altered one.
ALTER TABLE events ADD COLUMN channel text
  CHECK (channel IN ('mail_link', 'embedded', 'in_person', 'in_presence', 'by_audio_and_video'));
