/** A firm's card or bank account at the processor, and charges of it without a person at the processor's page. */
import type { Stripe } from "stripe";
import type { Environment } from "../../../kernel/identity/identity.ts";
import {
  type ChargeAnswer,
  type ChargeEnd,
  type ChargeRequest,
  createCharge,
  type EndedCharge,
  endCharge,
  failed,
  findCharge,
  isMissing,
  statusOf,
} from "./charge-requests.ts";

/** A card or bank account, as pages show it. */
export type SavedMethod = {
  method: string;
  kind: "card" | "bank";
  brand: string | null;
  last4: string | null;
  /** The time when the card expires, as MM/YYYY; null for a bank account. */
  expires: string | null;
};

type SetupRequest = { id: string; customer: string; environment: Environment; returnTo: string };

export type FirmAccount = {
  /**
   * Creates the firm as a customer. Requests repeated within a day with the same `id` create only one customer.
   * @throws ServiceError `processor_failed`
   */
  customer: (firm: { id: string; partnerId: string; environment: Environment; name: string }) => Promise<string>;
  /**
   * Returns the URL of the hosted page where a method is entered. A request repeated within a day returns the same URL.
   * @returns null when the processor does not know the customer
   * @throws ServiceError `processor_failed`
   */
  setUp: (request: SetupRequest) => Promise<string | null>;
  /** The method that a setup has saved or, while it has saved none, the state of the setup. */
  setupOf: (setupIntent: string) => Promise<SavedMethod | "verifying" | "failed">;
  /** Deletes the method at the processor. Succeeds for a method that the processor doesn't know. */
  detach: (method: string) => Promise<void>;
  /**
   * Charges the method once for each `id`, as long as the processor remembers the idempotency key: a day. An answer
   * `declined` is final: no earlier request for the charge can still collect money.
   * @throws Error when it is unknown whether a payment was created
   */
  charge: (request: ChargeRequest) => Promise<ChargeAnswer>;
  /**
   * Finds the payment of an earlier attempt whose answer was lost; null when there is none.
   * @throws Error for a customer that the account doesn't know, because another account may have the payment
   */
  findCharge: (charge: Pick<ChargeRequest, "id" | "customer">, since: Date) => Promise<ChargeAnswer | null>;
  /**
   * Cancels the payment of a charge. If there is none, makes sure that a request in progress can't create one any more.
   * @throws ServiceError `processor_failed`
   */
  end: (charge: EndedCharge, since: Date) => Promise<ChargeEnd>;
};

export function firmAccount(sdk: () => Promise<Stripe>): FirmAccount {
  return {
    async customer({ id, partnerId, environment, name }) {
      try {
        const stripe = await sdk();
        const metadata = { partner: partnerId, environment };
        const idempotencyKey = `customer:${id}`;
        return (await stripe.customers.create({ name, metadata }, { idempotencyKey })).id;
      } catch (error) {
        throw failed(error);
      }
    },
    async setUp(request) {
      try {
        const { sessions } = (await sdk()).checkout;
        const { url } = await sessions.create(setupOf(request), { idempotencyKey: `setup:${request.id}` });
        if (!url) throw new Error("the session has no url");
        return url;
      } catch (error) {
        if (isMissing(error)) return null;
        throw failed(error);
      }
    },
    async setupOf(setupIntent) {
      const stripe = await sdk();
      const { status, payment_method: saved } = await stripe.setupIntents.retrieve(setupIntent, {
        expand: ["payment_method"],
      });
      if (status === "succeeded" && saved !== null && typeof saved === "object") return methodOf(saved);
      return status === "processing" || status === "requires_action" ? "verifying" : "failed";
    },
    async detach(method) {
      await (await sdk()).paymentMethods.detach(method).catch((error: unknown) => {
        // With status 400 or 404, the processor doesn't know the method, or has already deleted it. Any other error is
        // thrown.
        if (![400, 404].includes(statusOf(error))) throw error;
      });
    },
    findCharge: async (charge, since) => findCharge(await sdk(), charge, since),
    end: async (charge, since) => endCharge(await sdk(), charge, since),
    charge: async (request) => createCharge(await sdk(), request),
  };
}

function setupOf({ id, customer, environment, returnTo }: SetupRequest): Stripe.Checkout.SessionCreateParams {
  const metadata = { setup: id, environment };
  return {
    mode: "setup",
    currency: "usd",
    customer,
    allowed_payment_method_types: ["card", "us_bank_account"],
    metadata,
    setup_intent_data: { metadata },
    success_url: `${returnTo}?setup=returned`,
    cancel_url: returnTo,
  };
}

function methodOf({ id, type, card, us_bank_account: bank }: Stripe.PaymentMethod): SavedMethod {
  const last4 = (card ?? bank)?.last4 ?? null;
  if (type === "us_bank_account")
    return { method: id, kind: "bank", brand: bank?.bank_name?.slice(0, 100) || null, last4, expires: null };
  const expires = card ? `${String(card.exp_month).padStart(2, "0")}/${card.exp_year}` : null;
  return { method: id, kind: "card", brand: card?.brand.slice(0, 100) || null, last4, expires };
}
