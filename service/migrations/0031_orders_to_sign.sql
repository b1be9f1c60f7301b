-- Orders that wait for signatures, to find those whose envelope does not follow.
CREATE INDEX orders_to_sign ON orders (updated_at) WHERE status = 'EsignPending';
