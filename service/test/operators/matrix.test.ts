import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import Fastify from "fastify";
import { may, type OperatorRole, operatorRoles, type Permission } from "../../src/operators/operators.ts";
import { type OperatorDeps, operatorPages } from "../../src/web/operator/operator.ts";
import { newOperator } from "./console-people.ts";

/** Who may do what: written out here, so that a change of the table is a change of this one, too. */
const matrix: Readonly<Record<Permission, readonly OperatorRole[]>> = {
  "orders.read": ["agent", "approver", "admin", "auditor"],
  "orders.work": ["agent"],
  "signers.work": ["agent"],
  "refunds.request": ["agent"],
  "money.decide": ["approver"],
  "notary.work": ["notary"],
  "paper.work": ["shipper"],
  "partners.manage": ["admin"],
  "partners.read": ["agent", "approver", "admin", "auditor"],
  "people.manage": ["admin"],
  "notaries.manage": ["admin"],
  "records.read": ["admin", "auditor"],
  "health.read": ["admin", "auditor"],
};

let running: Harness;
before(async () => {
  running = await openHarness();
});
after(() => running.close());

test("each role permits what the matrix says, and nothing else", () => {
  for (const [permission, permitted] of Object.entries(matrix) as [Permission, readonly OperatorRole[]][])
    for (const role of operatorRoles)
      assert.equal(may({ roles: [role] }, permission), permitted.includes(role), `${role} ${permission}`);
});

type Route = { method: string; url: string; permissions: readonly Permission[] | undefined };

/** The routes of the console, as they are registered; their handlers are never called. */
async function consoleRoutes(): Promise<Route[]> {
  const app = Fastify();
  const routes: Route[] = [];
  app.addHook("onRoute", ({ method, url, config }) => {
    for (const each of [method].flat())
      if (each !== "HEAD") routes.push({ method: each, url, permissions: config?.permissions });
  });
  const stub = { limits: { limit: () => async () => {} }, assets: { url: () => "" }, ownOrigin: "" };
  operatorPages(app, stub as unknown as OperatorDeps);
  await app.ready();
  await app.close();
  return routes;
}

/** Routes of whoever is signed in, which no role changes. */
const ofEverybody = /^\/operator\/(?:security|confirm)(?:\/|$)/;

const ask = ({ method, url }: Route, cookie: string) =>
  fetch(running.service.baseUrl + url.replaceAll(/:\w+/g, "00000000-0000-4000-8000-000000000000"), {
    method,
    redirect: "manual",
    headers: { cookie, Accept: "application/json" },
    ...(method === "POST" && { body: new URLSearchParams({}) }),
  });

const refusalIn = async (answer: Response) =>
  answer.status === 403 ? ((await answer.json()) as { error: string }).error : null;

test("every route of the console serves the roles of its permissions, and refuses all others by name", async () => {
  const routes = await consoleRoutes();
  assert.ok(routes.length >= 10);
  for (const role of operatorRoles) {
    const { cookie } = await newOperator(running, { roles: [role] });
    for (const route of routes) {
      const { permissions } = route;
      const where = `${role}: ${route.method} ${route.url}`;
      assert.ok(permissions || ofEverybody.test(route.url), `${where} says whom it serves`);
      const permitted = !permissions?.length || permissions.some((each) => matrix[each].includes(role));
      const answer = await ask(route, cookie);
      assert.ok(answer.status < 500 && answer.status !== 401, `${where}: ${answer.status}`);
      const refusal = await refusalIn(answer);
      if (permitted) assert.notEqual(refusal, "Your roles do not permit this.", where);
      else assert.equal(refusal, "Your roles do not permit this.", where);
    }
  }
});

test("who is no operator sees nothing of it: without a session, with a person's, with one that has ended", async () => {
  const stranger = await newOperator(running, { roles: ["admin"], listed: false });
  const gone = await newOperator(running, { roles: ["admin"] });
  await running.service.cli("operator", "remove", gone.email);
  for (const route of await consoleRoutes())
    for (const cookie of ["", stranger.cookie, gone.cookie]) {
      const answer = await ask(route, cookie);
      assert.equal(answer.status, 401, `${route.method} ${route.url}`);
      assert.match(await answer.text(), /For the people who run this service/);
    }
});

test("what concerns money, keys and roles is refused to who has no passkey, whatever the roles", async () => {
  const { cookie } = await newOperator(running, { roles: operatorRoles, passkey: false });
  const needs: ReadonlySet<Permission> = new Set([
    "money.decide",
    "partners.manage",
    "people.manage",
    "notaries.manage",
  ]);
  for (const route of await consoleRoutes()) {
    const { permissions = [] } = route;
    const refusal = await refusalIn(await ask(route, cookie));
    const refused = permissions.length > 0 && permissions.every((each) => needs.has(each));
    if (refused) assert.match(refusal ?? "", /^Add a passkey first/, route.url);
    else assert.doesNotMatch(refusal ?? "", /^Add a passkey first/, route.url);
  }
});
