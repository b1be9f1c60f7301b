import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { asService } from "@signsealship/testing/row-mac";
import Fastify from "fastify";
import { may, type OperatorRole, operatorRoles, type Permission } from "../../../src/firms/operators/operators.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { type OperatorDeps, operatorPages } from "../../../src/pages/operator/operator.ts";
import { newOperator, newSession } from "./console-people.ts";

/**
 * The permissions of each role, written a second time. So nobody can change the service's table without changing this
 * test.
 */
const matrix: Readonly<Record<Permission, readonly OperatorRole[]>> = {
  "orders.read": ["agent", "approver", "admin", "auditor"],
  "orders.work": ["agent"],
  "documents.take_in": ["agent"],
  "signers.work": ["agent"],
  "refunds.request": ["agent"],
  "money.decide": ["approver"],
  "notary.work": ["notary"],
  "paper.work": ["shipper"],
  "partners.manage": ["admin"],
  "catalog.manage": ["admin"],
  "partners.read": ["agent", "approver", "admin", "auditor"],
  "people.manage": ["admin"],
  "notaries.manage": ["admin"],
  "records.read": ["admin", "auditor"],
  "health.read": ["admin", "auditor"],
};

const running = await forTests(openHarness());

test("each role permits what the matrix says, and nothing else", () => {
  for (const [permission, permitted] of Object.entries(matrix) as [Permission, readonly OperatorRole[]][])
    for (const role of operatorRoles)
      assert.equal(may({ roles: [role] }, permission), permitted.includes(role), `${role} ${permission}`);
});

type Route = { method: string; url: string; permissions: readonly Permission[] | undefined };

/** The registered routes of the console. Their handlers are never called. */
async function consoleRoutes(): Promise<Route[]> {
  const app = Fastify();
  const routes: Route[] = [];
  app.addHook("onRoute", ({ method, url, config }) => {
    // Only paths below /operator are the console's. A device that was handed to a signer has no console session, and
    // uses other paths.
    for (const each of url.startsWith("/operator") ? [method].flat() : [])
      if (each !== "HEAD") routes.push({ method: each, url, permissions: config?.permissions });
  });
  const frame = { limits: { limit: () => async () => {} }, assets: { url: () => "" } };
  const stub = {
    console: { frame, ownOrigin: "", confirmation: {} },
    orders: { moves: {} },
    documents: {},
    refunds: {},
    firms: { firms: {} },
    health: {},
    notaries: { recordings: {} },
  };
  operatorPages(app, stub as unknown as OperatorDeps, null);
  await app.ready();
  await app.close();
  return routes;
}

/** Routes for any signed-in person, with any role. */
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

test("a person who is not an operator sees nothing of the console: without a session, with a member's, with one that has ended", async () => {
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

const needs: ReadonlySet<Permission> = new Set([
  "documents.take_in",
  "money.decide",
  "partners.manage",
  "catalog.manage",
  "people.manage",
  "notaries.manage",
]);
const needsPasskey = ({ permissions = [] }: Route): boolean =>
  permissions.length > 0 && permissions.every((each) => needs.has(each));

test("changes of money, keys and roles are refused to people without a passkey, whatever their roles", async () => {
  const { cookie } = await newOperator(running, { roles: operatorRoles, passkey: false });
  for (const route of await consoleRoutes()) {
    const refusal = await refusalIn(await ask(route, cookie));
    if (needsPasskey(route)) assert.match(refusal ?? "", /^Add a passkey first/, route.url);
    else assert.doesNotMatch(refusal ?? "", /^Add a passkey first/, route.url);
  }
});

test("changes of money, keys or roles are refused to people whose passkey check is too old", async () => {
  const { id, cookie } = await newOperator(running, { roles: operatorRoles });
  const earlier = await newSession(running, id, { at: new Date(Date.now() - 16 * 60_000) });
  const changes = (await consoleRoutes()).filter((route) => route.method === "POST" && needsPasskey(route));
  assert.ok(changes.some(({ url }) => url.endsWith("/proofs")) && changes.length >= 10);
  for (const route of changes) {
    assert.match((await refusalIn(await ask(route, earlier.cookie))) ?? "", /^Sign in with a passkey/, route.url);
    assert.doesNotMatch((await refusalIn(await ask(route, cookie))) ?? "", /passkey/, route.url);
  }
});

/**
 * Uploads a notary's proof with a pause in the middle. The form lacks the proof's label, so a caller who may upload
 * gets 400.
 */
async function slowUpload(cookie: string, meanwhile: () => Promise<unknown>) {
  const form = new FormData();
  form.append("document", new Blob(["%PDF-1.7"]), "proof.pdf");
  const whole = new Response(form);
  const bytes = Buffer.from(await whole.arrayBuffer());
  const sent = request(`${running.service.baseUrl}/operator/notaries/00000000-0000-4000-8000-000000000000/proofs`, {
    method: "POST",
    headers: { cookie, Accept: "application/json", "Content-Type": whole.headers.get("content-type") ?? "" },
  });
  const answered = once(sent, "response");
  sent.write(bytes.subarray(0, 40));
  await sleep(1_500);
  await meanwhile();
  sent.end(bytes.subarray(40));
  const [answer] = (await answered) as [IncomingMessage];
  const { error } = (await json(answer)) as { error: string };
  return { status: answer.statusCode, error };
}

test("a slow upload is accepted, unless its sender lost the right to it in the meantime", async () => {
  const [same, demoted, gone, switched] = await Promise.all(
    Array.from({ length: 4 }, () => newOperator(running, { roles: ["admin"] })),
  );
  assert.ok(same && demoted && gone && switched);
  const { db } = running;
  const answers = await Promise.all([
    slowUpload(same.cookie, async () => {}),
    slowUpload(demoted.cookie, () =>
      asService(running, sql`UPDATE operators SET roles = '{agent}' WHERE user_id = ${demoted.id}`),
    ),
    slowUpload(gone.cookie, () =>
      asService(running, sql`UPDATE operators SET active = false WHERE user_id = ${gone.id}`),
    ),
    slowUpload(switched.cookie, () =>
      db.query(sql`UPDATE sessions SET console_environment = 'test' WHERE id = ${switched.sessionId}`),
    ),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [400, 403, 401, 409],
  );
  assert.match(answers[0]?.error ?? "", /^label is required/);
  assert.equal(answers[1]?.error, "Your roles do not permit this.");
});
