import assert from "node:assert/strict";
import { test } from "node:test";
import Fastify from "fastify";
import { callerHooks, inTurn } from "../../../src/kernel/http/access.ts";
import { wireError } from "../../../src/kernel/http/errors/wire-errors.ts";
import type { Policy, RateLimits } from "../../../src/kernel/http/rate-limits.ts";
import type { ResolveKey } from "../../../src/kernel/identity/identity.ts";
import { ServiceError } from "../../../src/kernel/platform/errors.ts";

/** The response to a request with a key, and the resulting number of counted wrong keys. */
async function counted(caller: "key" | "key-or-session", resolveKey: ResolveKey, authorization?: string) {
  const policies: Policy[] = [];
  const limits: RateLimits = {
    limit: (policy) => async () => {
      policies.push(policy);
    },
    redisIsUp: async () => null,
    close: async () => {},
  };
  const deps = { resolveKey, resolveSession: async () => null, ownOrigin: "http://localhost", limits };
  const app = Fastify();
  app.decorateRequest("principal", null);
  app.decorateRequest("session", null);
  app.setErrorHandler(wireError);
  app.get("/", { onRequest: inTurn(callerHooks(deps, caller, "partner-portal")) }, async () => "ok");
  const { statusCode } = await app.inject({ url: "/", ...(authorization && { headers: { authorization } }) });
  await app.close();
  return { status: statusCode, badKeys: policies.filter((policy) => policy === "bad-key").length };
}

const refuses: ResolveKey = async () => null;

test("a refused key counts against its network, and a request without a key doesn't", async () => {
  for (const caller of ["key", "key-or-session"] as const) {
    assert.deepEqual(await counted(caller, refuses, "Bearer wrong"), { status: 401, badKeys: 1 });
    assert.deepEqual(await counted(caller, refuses), { status: 401, badKeys: 0 });
  }
});

test("a key that can't be checked during an outage does not count", async () => {
  const unavailable = new ServiceError("unavailable", "The service is briefly unavailable. Try again in a moment.");
  for (const caller of ["key", "key-or-session"] as const) {
    for (const [error, status] of [
      [unavailable, 503],
      [new Error("connection terminated"), 500],
    ] as const) {
      const fails: ResolveKey = async () => {
        throw error;
      };
      assert.deepEqual(await counted(caller, fails, "Bearer good"), { status, badKeys: 0 });
    }
  }
});
