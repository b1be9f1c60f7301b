-- An address is mailed only so many links. Whoever asks beyond that has the links that were mailed work in their browser, too: a
-- row that was not mailed, with the token of one that was. `proven`: asked by a browser that had signed in with this address.
ALTER TABLE sign_in_links
  ADD COLUMN mailed boolean NOT NULL DEFAULT true,
  ADD COLUMN proven boolean NOT NULL DEFAULT false,
  DROP CONSTRAINT sign_in_links_token_sha256_key,
  ADD CONSTRAINT sign_in_links_once UNIQUE NULLS NOT DISTINCT (token_sha256, browser_sha256);
