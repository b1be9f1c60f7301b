import assert from "node:assert/strict";
import { test } from "node:test";
import { type Environment, mayUseLive, type Principal } from "../../../src/kernel/identity/identity.ts";

const firm = { partnerId: "firm", firmName: "Firm", tier: "standard" };
const key = { id: "key", prefix: "svc_pk_", last4: "abcd", createdAt: new Date(0), scopes: null, expiresAt: null };
const proof = { confirmedAt: new Date(0), passkeyAt: null, hasPasskey: false, passkeyForLive: false };

const byKey = (environment: Environment, liveEnabled: boolean): Principal => ({
  ...firm,
  environment,
  liveEnabled,
  key,
  member: null,
});

const byMember = (environment: Environment, liveEnabled: boolean, liveAccess: boolean): Principal => ({
  ...firm,
  environment,
  liveEnabled,
  key: null,
  member: { userId: "user", email: "a@example.com", role: "owner", liveAccess, seesBilling: true, proof },
});

test("a live key may work in live, and a test key of the same firm may not", () => {
  assert.equal(mayUseLive(byKey("live", true)), true);
  assert.equal(mayUseLive(byKey("test", true)), false);
  assert.equal(mayUseLive(byKey("live", false)), false);
});

test("a member with live access may work in live, whichever environment the session shows", () => {
  for (const environment of ["live", "test"] as const) {
    assert.equal(mayUseLive(byMember(environment, true, true)), true);
    assert.equal(mayUseLive(byMember(environment, true, false)), false);
    assert.equal(mayUseLive(byMember(environment, false, true)), false);
  }
});

test("a caller with neither a key nor a member may not work in live", () => {
  assert.equal(mayUseLive({ ...byKey("live", true), key: null }), false);
});
