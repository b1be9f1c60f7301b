-- Older nodes: stop.
-- A supplement that replaces money of the order's price that a bank took back. The MAC covers the column where it is true,
-- so that MACs of earlier rows stay valid. An order can be asked for more postage and for its price at once.
ALTER TABLE supplements ADD COLUMN replaces_loss boolean NOT NULL DEFAULT false;
CREATE TRIGGER supplements_keep_losses BEFORE UPDATE OF replaces_loss ON supplements
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
DROP INDEX supplements_one_asked;
CREATE UNIQUE INDEX supplements_one_asked ON supplements (order_id, replaces_loss) WHERE state = 'asked';
