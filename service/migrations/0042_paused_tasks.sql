-- While an order is on hold, what people had to do for it waits, with whose it is and what was noted of it.
ALTER TABLE tasks DROP CONSTRAINT tasks_state_check;
ALTER TABLE tasks ADD CONSTRAINT tasks_state_check CHECK (state IN ('open', 'claimed', 'paused', 'done', 'dropped'));
