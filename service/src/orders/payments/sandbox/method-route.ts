import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../../kernel/http/route.ts";
import { nullable, oneOf, requestId, text } from "../../../kernel/http/schema-parts.ts";
import { warnings } from "../../../kernel/http/warnings.ts";
import { actorOf, type Principal } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { membersIn } from "../../../kernel/platform/json.ts";
import { replaceMethods } from "../methods/methods.ts";
import {
  isTestMethodName,
  sandboxCustomer,
  sandboxSetup,
  savedTestMethod,
  type TestMethodName,
  testMethodNames,
  testMethods,
} from "../methods/sandbox-account.ts";
import { insertMethod, maxCents, putLimit, updateMethod } from "../records/methods.ts";

type Deps = { db: Database; clock: Clock };

type Asked = { name: TestMethodName; perOrderCents: number | null; perMonthCents: number | null };

/**
 * Reads the requested test method and limits from the body.
 * @throws ServiceError naming the field
 */
function readAsked(body: unknown): Asked {
  const sent = membersIn(body);
  const name = sent["method"];
  if (typeof name !== "string" || !isTestMethodName(name))
    throw invalid(`method must be one of ${testMethodNames.join(", ")}.`);
  const centsOf = (field: "perOrderCents" | "perMonthCents"): number | null => {
    const cents = sent[field] ?? null;
    if (cents === null) return null;
    if (typeof cents !== "number" || !Number.isSafeInteger(cents) || cents < 1 || cents > maxCents)
      throw invalid(`${field} must be a whole number of cents, from 1 to ${maxCents}.`);
    return cents;
  };
  const [perOrderCents, perMonthCents] = [centsOf("perOrderCents"), centsOf("perMonthCents")];
  if ((perOrderCents === null) !== (perMonthCents === null))
    throw invalid("perOrderCents and perMonthCents belong together: send both or neither.");
  return { name, perOrderCents, perMonthCents };
}

/**
 * Stores a test method for the firm of a test key, in place of the present one. Sets the key's spending limits, if the
 * request names them. Needs no owner's consent, because no real money can be charged.
 * @throws ServiceError `conflict` for a live key
 */
async function putTestMethod({ db, clock }: Deps, principal: Principal, asked: Asked): Promise<string> {
  const { partnerId, environment } = principal;
  if (environment !== "test") throw new ServiceError("conflict", "The sandbox takes test keys only.");
  const { name, perOrderCents, perMonthCents } = asked;
  const id = newUuid();
  await db.transaction(async (tx) => {
    const [at, by] = [clock(), actorOf(principal)];
    await replaceMethods(tx, { partnerId, environment }, by);
    await insertMethod(tx, {
      id,
      partnerId,
      environment,
      customer: sandboxCustomer(partnerId),
      addedBy: by,
      addedAt: at,
    });
    const saved = savedTestMethod(name, id);
    await updateMethod(tx, id, { state: "active", setupIntent: sandboxSetup(name, id), saved });
    const detail = { method: id, environment, kind: saved.kind, last4: saved.last4 };
    await tx.query(auditLine({ at, action: "payment_method.added", actor: by, partnerId, detail }));
    if (perOrderCents === null || perMonthCents === null) return;
    const owner = { partnerId, environment };
    const limit = { spender: by, orderCents: perOrderCents, monthCents: perMonthCents };
    await putLimit(tx, { owner, ...limit, by, at });
    await tx.query(
      auditLine({ at, action: "spending_limit.set", actor: by, partnerId, detail: { ...limit, environment } }),
    );
  });
  return id;
}

const TestPaymentMethodRequest = Type.Object(
  {
    method: oneOf(testMethodNames, "Which test card or test bank account. Charges of `card` succeed.", ["bank"]),
    perOrderCents: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxCents,
        description: "What this key may spend on one order.",
        examples: [50_000],
      }),
    ),
    perMonthCents: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxCents,
        description: "What this key may spend in a month.",
        examples: [500_000],
      }),
    ),
  },
  {
    $id: "TestPaymentMethodRequest",
    description: "A test card or a test bank account, and the limits of the key.",
    examples: [{ method: "bank", perOrderCents: 50_000, perMonthCents: 500_000 }],
  },
);

const TestPaymentMethod = Type.Object(
  {
    methodId: text("The id of the method.", "0c6c1b1e-6a6d-4a86-9f0e-1e0a3a0c8d11"),
    method: oneOf(testMethodNames, "The test card or test bank account.", ["bank"]),
    kind: oneOf(["card", "bank"], "A debit of a bank account takes days to settle.", ["bank"]),
    last4: nullable(text("The last four digits, as pages and receipts show them.", "6789")),
    behavior: text("The effect of a charge, in words.", "Each debit settles after 4 days."),
    requestId: requestId(),
    warnings,
  },
  { $id: "TestPaymentMethod", description: "The test method that your firm's test orders are charged to." },
);

/** The route with which a test key puts a card or a bank account on file. */
export function testMethodRoute(app: FastifyInstance, { frame, ...deps }: Deps & { frame: RouteDeps }): void {
  jsonRoute(app, frame, {
    method: "POST",
    url: "/api/partner/sandbox/billing/method",
    scope: "orders",
    tag: "Sandbox",
    caller: "key",
    policy: "partner-write",
    operationId: "putTestPaymentMethod",
    summary: "Put a test card on file",
    description:
      "Puts a test card or a test bank account on file for your firm's test orders with `pay_by=firm`, in place of the present one. No processor is involved. Its charges settle, fail, or are disputed as its name says, and the test clock brings that nearer. `perOrderCents` and `perMonthCents` let this key charge it.",
    body: TestPaymentMethodRequest,
    warns: true,
    answer: TestPaymentMethod,
    refusals: { 400: "method must be one of the named values.", 409: "The sandbox takes test keys only." },
    handle: async (request) => {
      const asked = readAsked(request.body);
      const methodId = await putTestMethod(deps, principalOf(request), asked);
      const { kind, last4, words: behavior } = testMethods[asked.name];
      return { methodId, method: asked.name, kind, last4, behavior, requestId: request.id };
    },
  });
}
