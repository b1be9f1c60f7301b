import type { Tier } from "../../../firms/partners/partners.ts";
import type { Environment, Owner } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { deliveryHeaders } from "../delivery-headers.ts";
import { bodyHash, type Exchange } from "../exchange.ts";
import type { FailureReason, Outbound } from "../outbound/post.ts";
import { type PassportContext, payloadOf } from "../payload.ts";
import type { Claimed } from "./claim.ts";
import type { Destination } from "./destinations.ts";
import type { HostLimit, HostLimits } from "./host-limit.ts";

export type SendDeps = {
  clock: Clock;
  log: Log;
  outbound: Outbound;
  baseUrl: string;
  /** Reads the owner's passport; undefined when there is none or its MAC is invalid. */
  passportOf: (id: string, owner: Owner) => Promise<PassportContext | undefined>;
  hostLimitsOf: (tier: Tier) => HostLimits;
  newestCheckpoint: (log: Environment) => string | null;
};

/** The outcome of a delivery; `durationMs` and `exchange` are null when no POST was tried, or the host limit stopped it. */
export type Sent = {
  statusCode: number | null;
  reason: FailureReason | null;
  durationMs: number | null;
  exchange: Exchange | null;
};

const unsent = (reason: FailureReason): Sent => ({ statusCode: null, reason, durationMs: null, exchange: null });

/**
 * True if the event and its destination belong to the same firm and environment. Without this check, somebody could
 * alter a delivery's row to send a firm's event to another firm.
 */
const isOfDestination = ({ destination, ...event }: Claimed & { destination: Destination }): boolean =>
  event.eventPartnerId === destination.partnerId &&
  event.partnerId === destination.partnerId &&
  event.environment === destination.environment;

/**
 * Posts one delivery; never rejects.
 * @returns null when it is unknown whether the delivery arrived, and after an unexpected error. The delivery is then
 * sent again later
 */
export async function send(
  { clock, log, outbound, baseUrl, passportOf, hostLimitsOf, newestCheckpoint }: SendDeps,
  delivery: Claimed & { destination: Destination },
  hostLimit: HostLimit,
): Promise<Sent | null> {
  try {
    const { url, deleted, tier, keys } = delivery.destination;
    if (deleted) return unsent("webhook_deleted");
    if (!delivery.destination.isWhole) return unsent("webhook_altered");
    if (!delivery.isWhole) return unsent("event_altered");
    if (!isOfDestination(delivery)) {
      log.error({ delivery: delivery.seq, event: delivery.event }, "an event of another firm was queued for a webhook");
      return unsent("event_altered");
    }
    const isOfPassport = delivery.topic === "passport.sealed";
    const passport = isOfPassport ? await passportOf(delivery.subject, delivery) : undefined;
    const body = payloadOf({ ...delivery, passport: passport ?? null }, baseUrl);
    if (!body) return unsent("subject_missing");
    const [{ partnerId }, limits] = [delivery, hostLimitsOf(tier)];
    if (!hostLimit.toUrl(partnerId, url, limits)) return unsent("host_limit");
    const delivered = { ...delivery, keys, checkpoint: newestCheckpoint(delivery.environment) };
    const requestHeaders = deliveryHeaders(delivered, Math.floor(clock().getTime() / 1000), body);
    const admits = (addresses: readonly string[]) => hostLimit.toAddresses(partnerId, addresses, limits);
    const outcome = await outbound.post(url, requestHeaders, body, admits);
    if (!outcome) return null;
    if (outcome.reason === "host_limit") return unsent("host_limit");
    const { answer, ...rest } = outcome;
    return { ...rest, exchange: { requestHeaders, bodySha256: bodyHash(body), answer } };
  } catch (error) {
    log.error({ err: error, delivery: delivery.seq }, "a delivery could not be made");
    return null;
  }
}
