-- The domain that the mail addresses of a firm share: `acme.com` of `dana@mail.acme.com`, `acme.co.uk` of `dana@acme.co.uk`.
CREATE FUNCTION mail_domain(email text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT substring(lower(email) FROM
    '([^@.]+[.](?:ac|co|com|edu|gov|law|ltd|me|ne|net|or|org|plc|web)[.][a-z]{2}|[^@.]+[.][^@.]+)$')
$$;
CREATE INDEX access_requests_of_domain ON access_requests (mail_domain(work_email)) WHERE status = 'issued';
CREATE INDEX access_requests_of_address ON access_requests (lower(work_email));
-- When the address was told that no key was made for it.
ALTER TABLE access_requests ADD COLUMN told_at timestamptz;
