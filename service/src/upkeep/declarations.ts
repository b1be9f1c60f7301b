/** Lists of tables, searches and times, to which several features contribute. */
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
import { bringAppointmentsNearer, bringRequestsNearer } from "../signing/notaries/notaries.ts";

/** Methods to search for orders by data of other features, such as a signer's name or a tracking number. */
export const searchMethods: readonly SearchMethod[] = [...envelopes, ...shipping];

/** For a firm's launchpad (its list of first steps): the time at which the firm first completed each step. */
export const firstTimes: FirstTimes = {
  ...firstOrders,
  ...firstRoom,
  ...firstWebhook,
  passportAt: sql`coalesce(${firstPassport}, ${firstClosing})`,
};

/**
 * The functions that move due times when a test clock is advanced. The retention plan has no such function, because it
 * takes the clock's advances into account itself.
 */
export const broughtNearer: readonly BringNearer[] = [
  // Must be first, because the sandbox's bank locks a payment step before the rows of its order. Another sequence here
  // could deadlock with it.
  bringSandboxMoneyNearer,
  bringEnvelopesNearer,
  bringExecutionsNearer,
  bringSecretEndsNearer,
  bringAppointmentsNearer,
  bringRequestsNearer,
  bringClaimsNearer,
  ageTestIdempotencyKeys,
];
