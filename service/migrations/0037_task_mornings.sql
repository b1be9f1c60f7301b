-- The business days on whose morning operators were mailed what waits for them.
CREATE TABLE task_mornings (day date PRIMARY KEY);
