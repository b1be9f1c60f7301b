-- Each delivery is updated twice. Room in its page keeps the first update, the lease, out of the nine indexes (a HOT update).
ALTER TABLE webhook_deliveries SET (fillfactor = 50);
