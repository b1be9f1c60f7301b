-- Older nodes: stop.
-- They would take a third person in a live session for a signer of the order, and mail somebody else's address.
-- People in a live session who neither sign nor notarize: credible witnesses and interpreters. They are numbered from 11.
ALTER TABLE live_people DROP CONSTRAINT live_people_n_check;
ALTER TABLE live_people ADD CHECK (n BETWEEN 1 AND 17);
ALTER TABLE live_people ADD COLUMN role text NOT NULL DEFAULT 'signer' CHECK (role IN ('signer', 'credible_witness', 'interpreter'));
-- A signer's address and language are those of the order.
ALTER TABLE live_people ADD COLUMN email text CHECK (char_length(email) BETWEEN 3 AND 254);
ALTER TABLE live_people ADD COLUMN language text CHECK (char_length(language) = 2);
-- The signer whom a credible witness knows.
ALTER TABLE live_people ADD COLUMN for_signer int CHECK (for_signer BETWEEN 1 AND 10);
ALTER TABLE live_people ADD CHECK ((role = 'signer') = (n <= 10));
ALTER TABLE live_people ADD CHECK ((role = 'signer') = (email IS NULL) AND (email IS NULL) = (language IS NULL));
ALTER TABLE live_people ADD CHECK ((role = 'credible_witness') = (for_signer IS NOT NULL));
