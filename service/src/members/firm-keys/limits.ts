import type { Environment } from "../../identity/identity.ts";
import { countActiveKeys, countMadeKeys, type KeyLimits } from "../../partners/partners.ts";
import { dayMs } from "../../platform/clock.ts";
import type { Tx } from "../../platform/database/database.ts";
import { ServiceError } from "../../platform/errors.ts";

/** Under the lock of the firm. @throws ServiceError when its owners have made as many keys as they may in 24 hours */
export async function requireFewMade(tx: Tx, partnerId: string, { aDay }: KeyLimits, at: Date): Promise<void> {
  if ((await countMadeKeys(tx, partnerId, new Date(at.getTime() - dayMs))) >= aDay)
    throw new ServiceError(
      "conflict",
      `The owners of a firm of this tier make at most ${aDay} keys in 24 hours, rotations included. Try again tomorrow.`,
    );
}

/** Under the lock of the firm. @throws ServiceError when it has as many active keys as it may */
export async function requireFewActive(
  tx: Tx,
  { partnerId, environment }: { partnerId: string; environment: Environment },
  { active }: KeyLimits,
  at: Date,
): Promise<void> {
  if ((await countActiveKeys(tx, partnerId, environment, at)) >= active)
    throw new ServiceError(
      "conflict",
      `A firm of this tier has at most ${active} active ${environment} keys. Revoke one that is not used.`,
    );
}
