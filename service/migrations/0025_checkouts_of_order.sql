-- The retention plan asks of each order when its latest checkout ends.
CREATE INDEX checkout_sessions_of_order ON checkout_sessions (order_id);
