/** Lists to which several features contribute, each for its own tables. */
import { firstClosing } from "../closing/closing-passports/closing-passports.ts";
import { firstRoom } from "../closing/rooms/rooms.ts";
import { searchMethods as shipping } from "../delivery/shipping/shipping.ts";
import { firstPassport } from "../evidence/proof-passports/proof-passports.ts";
import type { FirstTimes } from "../firms/partners/partners.ts";
import { sql } from "../kernel/platform/database/sql.ts";
import { ageTestIdempotencyKeys } from "../kernel/platform/idempotency-keys.ts";
import { bringClaimsNearer } from "../kernel/tasks/tasks.ts";
import type { BringNearer } from "../kernel/test-clock/test-clock.ts";
import { firstOrders } from "../orders/order/order.ts";
import { bringSandboxMoneyNearer } from "../orders/payments/payments.ts";
import { bringExecutionsNearer } from "../orders/playbooks/playbooks.ts";
import type { SearchMethod } from "../orders/search/search.ts";
import { bringSecretEndsNearer, firstWebhook } from "../outgoing/webhooks/webhooks.ts";
import { bringEnvelopesNearer, searchMethods as envelopes } from "../signing/envelopes/envelopes.ts";
import { bringRequestsNearer, bringSessionsNearer } from "../signing/notaries/notaries.ts";

/** Ways to search for orders by data that higher wings own. */
export const searchMethods: readonly SearchMethod[] = [...envelopes, ...shipping];

/** When a firm first completed each step of its launchpad. */
export const firstTimes: FirstTimes = {
  ...{ ...firstOrders, ...firstRoom, ...firstWebhook },
  passportAt: sql`coalesce(${firstPassport}, ${firstClosing})`,
};

/**
 * The due times that a firm's test clock moves. The retention plan has no such times, because it adds up the clock's
 * advances itself.
 */
export const broughtNearer: readonly BringNearer[] = [
  // This one must be first: the sandbox's bank, too, locks a step before the rows of the step's order. In another
  // sequence, the test clock and the bank would deadlock.
  bringSandboxMoneyNearer,
  bringEnvelopesNearer,
  bringExecutionsNearer,
  bringSecretEndsNearer,
  bringSessionsNearer,
  bringRequestsNearer,
  bringClaimsNearer,
  ageTestIdempotencyKeys,
];
