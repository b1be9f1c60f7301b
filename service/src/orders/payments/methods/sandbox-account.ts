/**
 * Cards and bank accounts of the sandbox. They replace the payment processor in the test environment, whether or not
 * the operator has configured a key of the processor. No request leaves the service.
 */
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { ChargeAnswer } from "../processor/charge-requests.ts";
import type { FirmAccount, SavedMethod } from "../processor/firm-account.ts";
import { chargesOfPayment, endedByPerson } from "../records/charges.ts";
import {
  failNow,
  insertSteps,
  lockPayment,
  lockSteps,
  type NewStep,
  type PaymentSteps,
  sandboxIntent,
  stepsOfPayment,
} from "../records/sandbox-steps.ts";

export type TestMethod = Pick<SavedMethod, "kind" | "brand" | "last4"> & {
  /** The result of a charge of this method, in words. */
  words: string;
  steps: readonly NewStep[];
};

const card = { kind: "card", brand: "visa" } as const;
const bank = { kind: "bank", brand: "Test bank" } as const;
const paid = { kind: "settles", afterDays: 0 } as const;
const started = { kind: "processing", afterDays: 0 } as const;
const cleared = { kind: "settles", afterDays: 4 } as const;
const disputed = { kind: "disputed", afterDays: 7 } as const;
const declined = (reason: string): NewStep => ({ kind: "fails", afterDays: 0, reason });

/** The test methods by name, with the last four digits that distinguish them on pages. */
export const testMethods = {
  card: { ...card, last4: "4242", words: "Each charge succeeds.", steps: [paid] },
  card_declined: { ...card, last4: "0002", words: "Each charge is declined.", steps: [declined("card_declined")] },
  card_needs_authentication: {
    ...card,
    last4: "3184",
    words: "The bank wants a person to confirm each charge, so each one fails.",
    steps: [declined("authentication_required")],
  },
  card_dispute_won: {
    ...card,
    last4: "2685",
    words: "The payer’s bank asks for each payment back after 7 days, and gives up after 30.",
    steps: [paid, disputed, { kind: "won", afterDays: 30 }],
  },
  card_dispute_lost: {
    ...card,
    last4: "0259",
    words: "The payer’s bank asks for each payment back after 7 days, and gets it after 30.",
    steps: [paid, disputed, { kind: "lost", afterDays: 30 }],
  },
  bank: { ...bank, last4: "6789", words: "Each debit settles after 4 days.", steps: [started, cleared] },
  bank_insufficient_funds: {
    ...bank,
    last4: "2227",
    words: "Each debit fails after 4 days, for lack of money.",
    steps: [started, { kind: "fails", afterDays: 4, reason: "insufficient_funds" }],
  },
  bank_returned: {
    ...bank,
    last4: "0343",
    words: "Each debit settles after 4 days, and the bank takes it back after 9.",
    steps: [started, cleared, { kind: "lost", afterDays: 9 }],
  },
  bank_no_answer: {
    ...bank,
    last4: "9991",
    words: "The bank never answers. After 10 days an owner can end the debit.",
    steps: [started],
  },
} as const satisfies Readonly<Record<string, TestMethod>>;

export type TestMethodName = keyof typeof testMethods;
export const testMethodNames = Object.keys(testMethods) as TestMethodName[];

export const isTestMethodName = (name: string): name is TestMethodName => Object.hasOwn(testMethods, name);

const setupForm = /^sandbox:setup:(\w+):([\w-]+)$/;
const methodForm = /^sandbox:method:(\w+):[\w-]+$/;

/** The sandbox's name for a finished setup. The sandbox reads the chosen method from this name. */
export const sandboxSetup = (name: TestMethodName, id: string): string => `sandbox:setup:${name}:${id}`;

export function savedTestMethod(name: TestMethodName, id: string): SavedMethod {
  const { kind, brand, last4 } = testMethods[name];
  return { method: `sandbox:method:${name}:${id}`, kind, brand, last4, expires: kind === "card" ? "12/2034" : null };
}

/** The sandbox's customer id for a firm. */
export const sandboxCustomer = (partnerId: string): string => `sandbox:customer:${partnerId}`;

export function sandboxAccount({ db, clock }: { db: Database; clock: Clock }): FirmAccount {
  return {
    customer: async ({ partnerId }) => sandboxCustomer(partnerId),
    // Returns null for a customer id of the processor, because the sandbox doesn't know it. The caller then creates a
    // sandbox customer.
    setUp: async ({ id, customer, returnTo }) =>
      customer.startsWith("sandbox:") ? `${returnTo}/test-method/${id}` : null,
    async setupOf(setupIntent) {
      const [, name = "", id = ""] = setupForm.exec(setupIntent) ?? [];
      return isTestMethodName(name) ? savedTestMethod(name, id) : "failed";
    },
    detach: async () => {},
    charge: ({ id, method, amountCents }) =>
      db.transaction(async (tx) => {
        await lockPayment(tx, id);
        const earlier = answerOf(id, await stepsOfPayment(tx, id));
        if (earlier) return earlier;
        const [, name = ""] = methodForm.exec(method) ?? [];
        const [first] = await chargesOfPayment(tx, id);
        // Declines a method of the processor, which an earlier release saved for the test environment.
        if (!isTestMethodName(name) || first?.environment !== "test")
          return { state: "declined", paymentIntent: null, reason: "method_unusable" };
        const { steps } = testMethods[name];
        await insertSteps(
          tx,
          { partnerId: first.partnerId, paymentId: id, orderId: null, amountCents },
          steps,
          clock(),
        );
        return answerOf(id, await stepsOfPayment(tx, id)) as ChargeAnswer;
      }),
    findCharge: async ({ id }) => answerOf(id, await stepsOfPayment(db, id)),
    end: ({ id, amountCents, paymentIntent }) =>
      db.transaction(async (tx) => {
        if (paymentIntent !== null && !paymentIntent.startsWith("sandbox:"))
          throw new ServiceError(
            "conflict",
            "An earlier release made this payment in the payment processor’s test mode. Cancel it there. Nothing was changed.",
          );
        await lockPayment(tx, id);
        const steps = await lockSteps(tx, id);
        // If the payment has a failure step in addition to its settlement step, an earlier call has already ended the
        // payment. That call also marked the settlement step as done, although no money arrived. If the service then
        // crashed, the charge is still open and is ended now.
        const isEnded = steps.some(({ kind }) => kind === "fails");
        if (!isEnded && steps.some(({ kind, isDone }) => kind === "settles" && isDone))
          return { state: "paid", paymentIntent: sandboxIntent(id) };
        const [first] = await chargesOfPayment(tx, id);
        // Adds a failure step. Its event then changes the order, like the processor's event about a canceled payment.
        // The step also stops a late charge request from a crashed node.
        if (first) {
          const payment = { partnerId: first.partnerId, paymentId: id, orderId: null, amountCents } as const;
          await failNow(tx, { ...payment, reason: endedByPerson }, clock());
        }
        return { state: "canceled", paymentIntent: sandboxIntent(id) };
      }),
  };
}

/** The answer to the request for a payment; null for an unknown payment. */
function answerOf(id: string, steps: PaymentSteps): ChargeAnswer | null {
  const paymentIntent = sandboxIntent(id);
  const [first] = steps;
  if (!first) return null;
  if (first.kind === "fails") return { state: "declined", paymentIntent, reason: first.reason ?? "card_declined" };
  return { state: first.kind === "processing" ? "pending" : "answered", paymentIntent };
}
