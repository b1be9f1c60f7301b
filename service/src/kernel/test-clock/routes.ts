import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../http/route.ts";
import { oneOf, requestId, timestamp } from "../http/schema-parts.ts";
import { warnings } from "../http/warnings.ts";
import { advanceTestClock, resetTestClock, showTestClock, type TestClockDeps } from "./advance.ts";
import { leapOf } from "./fields.ts";

/** The test clock of a firm's sandbox (an addition to the contract; docs/decisions/test-clock.md). */
export function testClockRoutes(app: FastifyInstance, deps: TestClockDeps & RouteDeps): void {
  const common = {
    tag: "Sandbox",
    caller: "key",
    policy: "partner-write",
    url: "/api/partner/sandbox/clock",
    answer: TestClock,
  } as const;
  const liveKey = { 409: "The test clock is for test keys only." };
  jsonRoute(app, deps, {
    ...common,
    method: "GET",
    scope: "read",
    operationId: "getTestClock",
    summary: "Show the test clock",
    description:
      "The time that your test objects have come to, and whether all that came due by the last advance has happened.",
    refusals: liveKey,
    handle: async (request) => ({ ...(await showTestClock(deps, principalOf(request))), requestId: request.id }),
  });
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    scope: "orders",
    operationId: "advanceTestClock",
    summary: "Advance the test clock",
    description:
      "What comes due of your test objects happens as if so much time had gone by: envelopes remind and expire, executions of playbooks expire, replaced webhook secrets and idempotency keys end, documents are deleted, months of statements close, bank debits of the sandbox settle, fail or become overdue, disputes end. A debit on a page of the payment processor's test mode follows the processor. Receipts and statements bear the test time. New objects, evidence and webhooks bear real time. The answer is `advancing`; ask for the clock until it is `ready`.",
    body: TestClockAdvance,
    warns: true,
    refusals: { 400: "advanceSeconds must be a whole number of seconds, at least 1.", ...liveKey },
    handle: async (request) => ({
      ...(await advanceTestClock(deps, principalOf(request), leapOf(request.body))),
      requestId: request.id,
    }),
  });
  jsonRoute(app, deps, {
    ...common,
    method: "DELETE",
    scope: "orders",
    operationId: "resetTestClock",
    summary: "Set the test clock back to real time",
    description: "What happened has happened, and what came nearer stays there. New objects count from real time.",
    bodyIs: "none",
    refusals: liveKey,
    handle: async (request) => ({ ...(await resetTestClock(deps, principalOf(request))), requestId: request.id }),
  });
}

const TestClockAdvance = Type.Object(
  {
    advanceSeconds: Type.Optional(
      Type.Integer({ minimum: 1, examples: [1_209_600], description: "By how many seconds. Exclusive with `to`." }),
    ),
    to: Type.Optional(timestamp("The test time to go to, later than the clock's own.", "2026-12-12T09:00:00.000Z")),
  },
  {
    $id: "TestClockAdvance",
    description: "How far the clock goes: by so many seconds, or to a time.",
    examples: [{ advanceSeconds: 1_209_600 }],
  },
);

const TestClock = Type.Object(
  {
    status: oneOf(["ready", "advancing"], "`advancing`: what came due is happening. Ask again until it is `ready`.", [
      "ready",
    ]),
    testTime: timestamp("What the clock shows. It goes on from there."),
    realTime: timestamp("What new objects, evidence and webhooks are dated with."),
    advancedSeconds: Type.Integer({
      minimum: 0,
      examples: [1_209_600],
      description: "How far the clock is ahead of real time.",
    }),
    requestId: requestId(),
    warnings,
  },
  { $id: "TestClock", description: "The test clock of your firm." },
);
