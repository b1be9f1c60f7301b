-- Anybody with a signing link may ask for its signer's code. Requests are counted here, apart from the trail, so that a stranger can
-- neither fill the trail nor the signer's mailbox. A new link, and a right code, start both counts again.
ALTER TABLE envelope_signers
  ADD COLUMN codes_requested integer NOT NULL DEFAULT 0,
  ADD COLUMN codes_of_day integer NOT NULL DEFAULT 0,
  ADD COLUMN codes_day_at timestamptz;
