import type { Stripe } from "stripe";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { hasNulEscape } from "../../../kernel/platform/text.ts";
import { type AccountBooks, accountBooks } from "./balance.ts";
import { isMissing } from "./charge-requests.ts";
import { type CheckoutSessions, checkoutSessions } from "./checkout-sessions.ts";
import { type FirmAccount, firmAccount } from "./firm-account.ts";
import { type WebhookEndpoints, webhookEndpoints } from "./webhook-endpoints.ts";

/** An event with a verified signature. Its content is still untrusted. */
export type SignedEvent = {
  id: string;
  type: string;
  account?: unknown;
  livemode?: unknown;
  /** The time when the processor created the event, in Unix seconds. */
  created?: unknown;
  data: { object: unknown };
};

/** The payment processor, as far as the service uses it. */
export type Processor = AccountBooks &
  WebhookEndpoints &
  CheckoutSessions & {
    /** True if the key is of the processor's test mode, in which no money moves. */
    testMode: boolean;
    /** True if the key is of live mode; null when the key doesn't show its mode. */
    livemode: boolean | null;
    /** The name of an earlier account that the operator uses again, such as `acct_1A2b live`; null for none. */
    accountAgain: string | null;
    /** Refunds all that is left of a payment. A repeated call refunds nothing more, unless the refund has failed. */
    refund: (id: string, paymentIntent: string) => Promise<void>;
    /**
     * Refunds a part of a payment. A repeated call with the same `request` refunds nothing more, even much later, and
     * even if the refund has failed. A call also refunds nothing if the order's whole share was refunded, because the
     * share includes the part.
     */
    refundPart: (part: RefundPart) => Promise<void>;
    /**
     * Refunds an order's share of a payment, minus the parts that this service requested before. A repeated call
     * refunds nothing more. If the refund has failed, a call without `part` may refund the share again. A call with
     * the same `part` may not.
     */
    refundShare: (share: RefundShare) => Promise<void>;
    /**
     * The refunds of a payment that have succeeded or may still succeed. `isOurs`: true if the refund's metadata names
     * a request of this service. Null for a payment that the account doesn't have.
     */
    refundsOf: (paymentIntent: string) => Promise<RefundOfPayment[] | null>;
    /** Cards and bank accounts of firms. */
    firm: FirmAccount;
    /**
     * Verifies an event's signature over the exact bytes.
     * @throws ServiceError `validation` when the signature is wrong, its time is out of tolerance, or the event is
     * malformed
     */
    verify: (body: Buffer, signature: string | undefined, now: Date) => Promise<SignedEvent>;
  };

/**
 * The processor at which orders in this environment are paid; null for none. Test orders are never paid at a processor
 * that moves real money.
 */
export const processorFor = (processor: Processor | null, environment: Environment): Processor | null =>
  processor !== null && (environment === "live" || processor.testMode) ? processor : null;

export type RefundOfPayment = { id: string; amountCents: number; isOurs: boolean };

/** A part of a payment to refund. `payment` is our id of the payment. */
type RefundPart = { request: string; payment: number; paymentIntent: string; amountCents: number };

/** `part`: the id of the request that returns only this share; null for a refund of the whole order. */
type RefundShare = Omit<RefundPart, "request"> & { part: string | null };

/**
 * `webhookSecret`: the secrets of the endpoints whose events are accepted, separated by commas. After a change of the
 * account, the earlier account still sends events about its last debits, refunds and disputes.
 */
export type ProcessorSettings = {
  secretKey: string;
  webhookSecret: string;
  apiBase: string | null;
  accountAgain?: string | null;
};

const toleranceSeconds = 300;
const timeoutMs = 8_000;

/** True if the key is of the processor's test mode, in which no money moves. */
export const isTestModeKey = (secretKey: string): boolean => /^(?:sk|rk)_test_/.test(secretKey);

const livemodeOf = (secretKey: string): boolean | null => {
  if (/^(?:sk|rk)_live_/.test(secretKey)) return true;
  return isTestModeKey(secretKey) ? false : null;
};

/**
 * Creates the adapter to Stripe, whose SDK is loaded at first use.
 * @param baseUrl the site that the payer returns to
 */
export function openProcessor(settings: ProcessorSettings, baseUrl: string): Processor {
  const { secretKey, webhookSecret, apiBase, accountAgain = null } = settings;
  let loading: Promise<Stripe> | undefined;
  const sdk = () => (loading ??= load(secretKey, apiBase));

  return {
    testMode: isTestModeKey(secretKey),
    livemode: livemodeOf(secretKey),
    accountAgain,
    firm: firmAccount(sdk),
    ...accountBooks(sdk, isTestModeKey(secretKey) ? "test" : "live"),
    ...webhookEndpoints(sdk),
    ...checkoutSessions(sdk, baseUrl),
    ...refunds(sdk),
    verify: (body, signature, now) => verifyEvent(sdk, webhookSecret, { body, signature, now }),
  };
}

type Sdk = () => Promise<Stripe>;

function refunds(sdk: Sdk): Pick<Processor, "refund" | "refundPart" | "refundShare" | "refundsOf"> {
  return {
    async refund(id, paymentIntent) {
      const stripe = await sdk();
      const metadata = metadataOf(shareRequest(id), id);
      // The idempotency key can't be `refund:ID`: an earlier release used that key for a request without metadata, and
      // the processor refuses a key with other parameters. If that earlier request was made, everything is refunded
      // already.
      await stripe.refunds
        .create({ payment_intent: paymentIntent, metadata }, { idempotencyKey: `whole-refund:${id}` })
        .catch((error: unknown) => {
          // The error is expected if partial refunds have already returned the whole payment.
          if ((error as { code?: unknown } | null)?.code !== "charge_already_refunded") throw error;
        });
    },
    refundPart: async (part) => refundOnce(await sdk(), part.request, part, () => part.amountCents),
    refundShare: async (share) =>
      refundOnce(await sdk(), shareRequest(share.payment, share.part), share, (ofPayment) =>
        ofPayment
          .filter(({ metadata }) => metadata?.["payment"] === String(share.payment))
          .reduce((rest, { amount }) => rest - amount, share.amountCents),
      ),
    async refundsOf(paymentIntent) {
      const ofPayment = await refundsOf(await sdk(), paymentIntent).catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      });
      if (ofPayment === null) return null;
      return ofPayment.filter(mayReturnMoney).map(({ id, amount: amountCents, metadata }) => ({
        id,
        amountCents,
        isOurs: metadata?.["refund_request"] !== undefined,
      }));
    },
  };
}

async function verifyEvent(
  sdk: Sdk,
  secret: string,
  { body, signature, now }: { body: Buffer; signature: string | undefined; now: Date },
): Promise<SignedEvent> {
  if (!signature) throw invalid("The signature is missing.");
  // The SDK refuses a signature with an old time, but accepts any future time.
  if (signedAt(signature) > now.getTime() / 1000 + toleranceSeconds)
    throw invalid("The signature's time is in the future.");
  const { webhooks } = await sdk();
  let event: unknown;
  let refused: unknown;
  // Skips empty secrets, because anybody could sign an event with one.
  for (const each of secret.split(",").flatMap((part) => part.trim() || []))
    try {
      event ??= await webhooks.constructEventAsync(body, signature, each, toleranceSeconds, undefined, now.getTime());
    } catch (error) {
      refused = error;
    }
  if (event === undefined) throw new ServiceError("validation", "The signature does not verify.", { cause: refused });
  if (hasNulEscape(body.toString())) throw invalid("An event's texts must not contain NUL.");
  if (!isEvent(event)) throw invalid("The event must have an id, a type and data.object.");
  return event;
}

/** The metadata by which a refund's events identify the refund (`refundMessage` in message.ts). */
const metadataOf = (request: string, payment: number | string) => ({
  refund_request: request,
  payment: String(payment),
});

/**
 * The `request` under which an order's share of a payment is refunded, or the whole payment of one order.
 * @param part the id of the request that returns only this share; null for a refund of the whole order
 */
export const shareRequest = (payment: number | string, part: string | null = null): string =>
  part === null ? `payment:${payment}` : `payment:${payment}:${part}`;

/** True if the refund was requested for all that was left of a share of a payment. */
export const isShareRequest = (request: string | null, payment: number | string): boolean =>
  `${request}:`.startsWith(`${shareRequest(payment)}:`);

/**
 * Refunds a part unless it was refunded before. Idempotency keys expire after a day and a job may run again later, so
 * the processor's refunds are read first. A failed refund counts only if its name has the id of a person's request:
 * people approve such a request for one refund. Requests nothing if `amountOf` leaves nothing, because the refunds of
 * the order's parts return its whole share.
 */
async function refundOnce(
  stripe: Stripe,
  request: string,
  { payment, paymentIntent }: Omit<RefundPart, "request">,
  amountOf: (ofPayment: readonly Stripe.Refund[]) => number,
): Promise<void> {
  const all = await refundsOf(stripe, paymentIntent);
  const ofPayment = all.filter(mayReturnMoney);
  if (ofPayment.some((refund) => nameOf(refund) === request || isShareRequest(nameOf(refund), payment))) return;
  if (request !== shareRequest(payment) && all.some((refund) => nameOf(refund) === request)) return;
  const amount = amountOf(ofPayment);
  if (amount <= 0) return;
  const metadata = metadataOf(request, payment);
  const idempotencyKey = `part-refund:${isShareRequest(request, payment) ? shareKey(all, request, payment) : request}`;
  await stripe.refunds.create({ payment_intent: paymentIntent, amount, metadata }, { idempotencyKey });
}

/**
 * The idempotency key for the refund of a share. Two concurrent requests for one share get the same key, and the
 * processor refuses the second one, because its metadata differs. After a failed refund under another name, the key is a
 * new one, because the processor refuses the earlier key with other metadata.
 */
function shareKey(all: readonly Stripe.Refund[], request: string, payment: number): string {
  const failed = all.filter((refund) => {
    const name = nameOf(refund);
    return !mayReturnMoney(refund) && name !== request && isShareRequest(name, payment);
  });
  return failed.length === 0 ? shareRequest(payment) : `${shareRequest(payment)}:after-${failed.length}`;
}

const nameOf = ({ metadata }: Stripe.Refund): string | null => metadata?.["refund_request"] ?? null;

/** True for a refund that has succeeded or may still succeed. */
const mayReturnMoney = ({ status }: Stripe.Refund): boolean => status !== "failed" && status !== "canceled";

async function refundsOf(stripe: Stripe, paymentIntent: string): Promise<Stripe.Refund[]> {
  const refunds: Stripe.Refund[] = [];
  for await (const refund of stripe.refunds.list({ payment_intent: paymentIntent, limit: 100 })) refunds.push(refund);
  return refunds;
}

/** The time `t` in the signature header, in Unix seconds. Without one it is 0, and the verification fails. */
const signedAt = (signature: string): number => Number(/(?:^|,)t=(\d{1,15})(?:,|$)/.exec(signature)?.[1] ?? 0);

function isEvent(value: unknown): value is SignedEvent {
  const { id, type, data } = (value ?? {}) as Partial<SignedEvent>;
  const isText = (text: unknown) => typeof text === "string" && text !== "" && text.length <= 255;
  return isText(id) && isText(type) && typeof data?.object === "object" && data.object !== null;
}

async function load(secretKey: string, apiBase: string | null): Promise<Stripe> {
  const { Stripe } = await import("stripe");
  const base = apiBase === null ? null : new URL(apiBase);
  return new Stripe(secretKey, {
    timeout: timeoutMs,
    maxNetworkRetries: 1,
    telemetry: false,
    ...(base && {
      protocol: base.protocol === "http:" ? "http" : "https",
      host: base.hostname,
      port: base.port || (base.protocol === "http:" ? 80 : 443),
    }),
  });
}
