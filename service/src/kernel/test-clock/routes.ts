import type { FastifyInstance } from "fastify";
import { principalOf } from "../http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../http/route.ts";
import { advanceTestClock, resetTestClock, showTestClock, type TestClockDeps } from "./advance.ts";
import { leapOf } from "./fields.ts";
import { TestClock, TestClockAdvance } from "./schemas.ts";

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
      "What comes due of your test objects happens as if so much time had gone by: envelopes remind and expire, executions of playbooks expire, replaced webhook secrets and idempotency keys end, documents are deleted. New objects, evidence and webhooks bear real time. The answer is `advancing`; ask for the clock until it is `ready`.",
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
