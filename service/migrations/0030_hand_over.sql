-- When a signer was last reminded at somebody's wish.
ALTER TABLE envelope_signers ADD COLUMN reminded_at timestamptz;

-- Rooms show who has signed. What a link and its codes do to the row is not shown.
CREATE FUNCTION bump_rooms_of_signer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_rooms_of_order(order_id) FROM envelopes WHERE id = NEW.envelope_id;
  RETURN NULL;
END $$;

CREATE TRIGGER envelope_signers_bump_rooms AFTER INSERT OR UPDATE OF name, email, routing, signed_at ON envelope_signers
  FOR EACH ROW EXECUTE FUNCTION bump_rooms_of_signer();
