import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { wholeFile } from "@signsealship/testing/blobs";
import { newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { newPartner } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import type { Principal } from "../../../../src/kernel/identity/identity.ts";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { addOrigin, removeOrigin } from "../../../../src/signing/envelopes/envelopes.ts";
import { sweepEmbeds } from "../../../../src/signing/envelopes/records/embeds.ts";
import { browser, consentText, openCeremonyService, signBy } from "./ceremony-service.ts";

const running = await forTests(openCeremonyService());
const { client, ceremony, db } = running;
const site = "https://app.example.com";
await client.ok("POST", "/api/partner/embed-origins", { origin: site });

const jane = { name: "Jane Doe", email: "jane@example.com" };
const max = { name: "Max Roe", email: "max@example.com", routing: 2 };
const coded = { name: "Cody Lane", email: "cody@example.com", auth: "access_code", access_code: "4711" };

const embed = (code: string, n: number | string = 1, body: object = { origin: site }) =>
  client.call("POST", `/api/partner/orders/${code}/signers/${n}/embed`, body);

const waiting = async (signers: readonly object[]) => {
  const code = await running.order(signers);
  await until(async () => {
    const path = `/api/partner/orders/${code}/signers`;
    const { signers: states } = await client.ok<{ signers: { status: string }[] }>("GET", path);
    return states[0]?.status === "sent";
  });
  return code;
};

async function ticketFor(code: string, n = 1): Promise<string> {
  const { status, body } = await embed(code, n);
  assert.equal(status, 200, JSON.stringify(body));
  return String(body["url"]).split("/").at(-1) ?? "";
}

const page = (path: string, init: RequestInit = {}) =>
  fetch(running.service.baseUrl + path, { redirect: "manual", ...init });
const begin = (ticket: string) =>
  page(`/embed/${ticket}/begin`, {
    method: "POST",
    headers: { Origin: new URL(running.service.baseUrl).origin, "Content-Type": "application/x-www-form-urlencoded" },
  });
const ancestors = (response: Response) =>
  /frame-ancestors ([^;]+)/.exec(response.headers.get("content-security-policy") ?? "")?.[1];

async function session(code: string, n = 1): Promise<string> {
  const response = await begin(await ticketFor(code, n));
  assert.equal(response.status, 303);
  return (response.headers.get("location") ?? "").split("/").at(-1) ?? "";
}

const trailOf = (code: string) =>
  db.query<{
    event: string;
    origin: string | null;
    act: { identifiedBy: string[]; channel: string; origin: string } | null;
  }>(sql`
    SELECT t.record::json ->> 'event' AS event, t.record::json ->> 'origin' AS origin, t.record::json -> 'act' AS act
    FROM envelope_events t JOIN envelopes e ON e.id = t.envelope_id
    WHERE e.order_id = (SELECT max(order_id) FROM envelopes) AND ${code} <> '' ORDER BY t.position`);

test("a firm opens the page for a signer, who signs in its frame: trail and act state it, and only its site may show it", async () => {
  const code = await waiting([jane]);
  const ticket = await ticketFor(code);
  const first = await page(`/embed/${ticket}`);
  assert.deepEqual([first.status, ancestors(first)], [200, site]);
  assert.doesNotMatch(await first.text(), /Jane|jane@|Document/, "the first page names nobody");
  const token = await session(code);
  const shown = await page(`/sign/${token}`);
  assert.deepEqual([shown.status, ancestors(shown)], [200, site]);
  const text = await shown.text();
  assert.match(text, /data-origin="https:\/\/app\.example\.com"/);
  assert.ok(!text.includes(code), "the code of the order opens the client's page");
  await signBy(ceremony, { token, session: null }, "Jane Doe");
  const trail = await trailOf(code);
  assert.equal(trail.find(({ event }) => event === "embedded")?.origin, site);
  const act = trail.find(({ event }) => event === "signed")?.act;
  assert.deepEqual(
    [act?.channel, act?.origin, act?.identifiedBy],
    ["embedded", site, [`page at ${site}, opened by the firm for the signer`]],
  );
});

test(
  "the custody certificate states that the firm opened the page for the signer, and no mailed link",
  needs("poppler"),
  async () => {
    const token = await session(await waiting([jane]));
    const link = { token, session: null };
    await signBy(ceremony, link, "Jane Doe");
    await until(async () => (await ceremony.view(link)).copies.length === 2);
    const certificate = await wholeFile(await ceremony.copy(link, "custody_certificate"));
    const printed = execFileSync("pdftotext", ["-layout", "-", "-"], { input: certificate, encoding: "utf8" });
    const text = printed.replaceAll(/\s+/g, " ");
    assert.match(
      text,
      /The firm opened the signing page for the signer, on the firm’s page at https:\/\/app\.example\.com/,
    );
    assert.match(text, /Identified by page at https:\/\/app\.example\.com, opened by the firm for the signer/);
    assert.doesNotMatch(text, /Identified by link mailed/);
  },
);

test("pages of mailed links stay outside frames", async () => {
  await waiting([jane]);
  const { token } = await running.linkOf(jane.email);
  const shown = await page(`/sign/${token}`);
  assert.equal(ancestors(shown), "'none'");
  assert.doesNotMatch(await shown.text(), /id="embed"/);
});

test("a ticket opens one page, once: reading it changes nothing, and of many concurrent uses one begins", async () => {
  const code = await waiting([jane]);
  const ticket = await ticketFor(code);
  for (let time = 0; time < 3; time++) assert.equal((await page(`/embed/${ticket}`)).status, 200);
  const statuses = (await Promise.all([1, 2, 3].map(() => begin(ticket)))).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [303, 410, 410]);
  const again = await page(`/embed/${ticket}`);
  assert.deepEqual([again.status, ancestors(again)], [410, site]);
  assert.match(await again.text(), /data-state="used"/);
});

test("a ticket that is not used within five minutes is invalid, and a session ends after half an hour", async () => {
  const code = await waiting([jane]);
  const ticket = await ticketFor(code);
  const later = (minutes: number) => running.openAt(() => new Date(Date.now() + minutes * 60_000));
  assert.equal((await later(6).frameOfTicket(ticket))?.state, "expired");
  await assert.rejects(later(6).redeem(ticket, browser), /was used, or has expired/);
  const token = await session(code);
  await later(29).view({ token, session: null });
  await assert.rejects(later(31).view({ token, session: null }), /not valid/);
  assert.equal((await later(31).frameOfSession(token))?.origin, site);
});

test("tickets and open pages of a site end when the firm removes the site", async () => {
  const origin = "https://removed.example.com";
  await client.ok("POST", "/api/partner/embed-origins", { origin });
  type Listed = { origins: { originId: string; origin: string }[] };
  const { origins } = await client.ok<Listed>("GET", "/api/partner/embed-origins");
  const added = origins.find((each) => each.origin === origin);
  const [first, second] = [await waiting([jane]), await waiting([jane])];
  const ticketOf = async (code: string) => {
    const { body } = await embed(code, 1, { origin });
    return String(body["url"]).split("/").at(-1) ?? "";
  };
  const ticket = await ticketOf(first);
  const { session: token } = await ceremony.redeem(await ticketOf(second), browser);
  assert.equal((await ceremony.frameOfTicket(ticket))?.state, "open");
  await ceremony.view({ token, session: null });
  assert.equal((await client.call("DELETE", `/api/partner/embed-origins/${added?.originId}`)).status, 200);
  assert.equal((await ceremony.frameOfTicket(ticket))?.state, "expired");
  assert.equal((await begin(ticket)).status, 410);
  await assert.rejects(ceremony.view({ token, session: null }), /not valid/);
  await db.query(sql`
    INSERT INTO embed_origins (id, partner_id, environment, origin, created_at)
    SELECT gen_random_uuid(), partner_id, environment, ${origin}, now() FROM embed_origins WHERE origin = ${site}`);
  try {
    const altered = { code: "unavailable", message: /is not what the service wrote/ };
    await assert.rejects(ceremony.frameOfTicket(ticket), altered, "a row that only the database's owner wrote");
    await assert.rejects(ceremony.view({ token, session: null }), altered);
  } finally {
    await db.query(sql`DELETE FROM embed_origins WHERE origin = ${origin}`);
  }
});

test("an unknown ticket is a page that no site may show", async () => {
  for (const ticket of ["0".repeat(40), "x"]) {
    const response = await page(`/embed/${ticket}`);
    assert.deepEqual([response.status, ancestors(response)], [404, "'none'"]);
    assert.equal((await begin(ticket)).status, 404);
  }
});

test("a page of another site can't press Begin", async () => {
  const ticket = await ticketFor(await waiting([jane]));
  const headers = { Origin: "https://evil.example", "Content-Type": "application/x-www-form-urlencoded" };
  assert.equal((await page(`/embed/${ticket}/begin`, { method: "POST", headers })).status, 403);
  assert.equal((await page(`/embed/${ticket}`)).status, 200);
});

test("a page without scripts can only sign in its own tab: nothing can detect what covers a frame", async () => {
  const token = await session(await waiting([jane]));
  await ceremony.consent({ token, session: null }, consentText, browser);
  const post = async (dest: string) => {
    const { document } = await ceremony.view({ token, session: null });
    const body = new URLSearchParams({ revision: String(document?.revision), name: "Jane Doe" });
    const headers = { Origin: new URL(running.service.baseUrl).origin, "Sec-Fetch-Dest": dest };
    return page(`/sign/${token}/sign`, { method: "POST", body, headers });
  };
  const framed = await post("iframe");
  assert.equal(framed.status, 400);
  assert.match(await framed.text(), /To sign without scripts, open this page in a tab of its own/);
  assert.equal((await post("document")).status, 303);
});

test("the signer's own code stays: the frame asks for it, and it counts only for that frame", async () => {
  const code = await waiting([coded]);
  const token = await session(code);
  const link = { token, session: null };
  assert.equal((await ceremony.view(link)).state, "identify");
  assert.equal(await ceremony.identify(link, "0000", browser), null);
  assert.ok(await ceremony.identify(link, "4711", browser));
  assert.equal((await ceremony.view(link)).state, "ready");
  assert.equal((await ceremony.view(await running.linkOf(coded.email))).state, "identify");
  await signBy(ceremony, link, "Cody Lane");
  const act = (await trailOf(code)).find(({ event }) => event === "signed")?.act;
  assert.deepEqual(act?.identifiedBy, [`page at ${site}, opened by the firm for the signer`, "access_code"]);
});

test("a signer who is replaced loses the page", async () => {
  const code = await waiting([jane]);
  const [token, ticket] = [await session(code), await ticketFor(code)];
  await client.ok("POST", `/api/partner/orders/${code}/signers/1/replace`, {
    name: "Ann Poe",
    email: "ann@example.com",
  });
  await assert.rejects(ceremony.view({ token, session: null }), /not valid/);
  assert.equal((await page(`/embed/${ticket}`)).status, 410);
});

describe("refuses", () => {
  test("a site that is not registered", async () => {
    const { status, body } = await embed(await waiting([jane]), 1, { origin: "https://other.example.com" });
    assert.deepEqual(
      [status, body.error],
      [400, "origin must be registered first: https://other.example.com is not one of your embed origins."],
    );
  });

  test("a signer whose turn it is not, who has signed, or who does not exist", async () => {
    const code = await waiting([jane, max]);
    assert.deepEqual(
      [(await embed(code, 2)).status, (await embed(code, 2)).body.error],
      [409, "It is not this person's turn to sign yet."],
    );
    assert.deepEqual([(await embed(code, 9)).status, (await embed(code, "one")).status], [404, 404]);
    await signBy(ceremony, { token: await session(code), session: null }, "Jane Doe");
    const { status, body } = await embed(code, 1);
    assert.deepEqual([status, body.error], [409, "This person has signed already."]);
  });

  test("another firm's order", async () => {
    const code = await waiting([jane]);
    const { headers } = await newPartner(running.service);
    const theirs = newClient(running.service.baseUrl, headers.Authorization.replace("Bearer ", ""), () => true);
    const { status, body } = await theirs.call("POST", `/api/partner/orders/${code}/signers/1/embed`, { origin: site });
    assert.deepEqual([status, body.error], [404, "Order not found."]);
  });

  const rule = "an https origin, as https://app.example.com, or http://localhost with a port";
  const origins: Record<string, [unknown, string]> = {
    "no origin": [undefined, `origin must be ${rule}.`],
    "a number": [7, `origin must be ${rule}.`],
    "plain http": ["http://app.example.com", `origin must be ${rule}.`],
    "a path": [
      "https://app.example.com/sign",
      `origin must be ${rule}, without a path: https://app.example.com/sign has more.`,
    ],
    "a wildcard": ["https://*.example.com", `origin must be ${rule}, without a wildcard.`],
    "another scheme": ["data:text/html,x", `origin must be ${rule}.`],
    "a script": ["javascript:alert(1)", `origin must be ${rule}.`],
    "two lines": ["https://app.example.com\n.evil.example", `origin must be ${rule}.`],
    "without slashes": ["https:app.example.com", `origin must be ${rule}.`],
    "with a backslash": ["https:\\\\app.example.com", `origin must be ${rule}.`],
    "a name and password": [
      "https://a:b@app.example.com",
      `origin must be ${rule}, without a path: https://a:b@app.example.com has more.`,
    ],
  };
  for (const [name, [origin, message]] of Object.entries(origins))
    test(`an origin that is ${name}`, async () => {
      const { status, body } = await client.call("POST", "/api/partner/embed-origins", { origin });
      assert.deepEqual([status, body.error], [400, message]);
    });
});

test("origins are registered once, listed and removed, and belong to one firm and environment", async () => {
  const { headers } = await newPartner(running.service);
  const theirs = newClient(running.service.baseUrl, headers.Authorization.replace("Bearer ", ""), () => true);
  const add = (origin: string) => theirs.call("POST", "/api/partner/embed-origins", { origin });
  type Listed = { origins: { originId: string; origin: string }[] };
  await add("https://One.example.com:443/");
  await add("https://one.example.com");
  const { body } = await add("http://localhost:3000");
  const { origins } = body as unknown as Listed;
  assert.deepEqual(
    origins.map(({ origin }) => origin),
    ["https://one.example.com", "http://localhost:3000"],
  );
  const id = origins[0]?.originId ?? "";
  assert.equal((await client.call("DELETE", `/api/partner/embed-origins/${id}`)).status, 404, "another firm's");
  assert.equal((await theirs.call("DELETE", `/api/partner/embed-origins/${id}`)).status, 200);
  assert.equal((await theirs.call("DELETE", `/api/partner/embed-origins/${id}`)).status, 404);
  for (let n = 0; n < 19; n++) assert.equal((await add(`https://s${n}.example.com`)).status, 200);
  const more = await add("https://one-more.example.com");
  assert.deepEqual([more.status, more.body.error], [400, "A firm has at most 20 origins: remove one first."]);
  const listed = (await theirs.call("GET", "/api/partner/embed-origins")).body as unknown as Listed;
  assert.equal(listed.origins.length, 20, "nothing of the refused one is kept");
});

test("a key with limited scopes can't register or remove a site", async () => {
  const key = { id: "k", prefix: "", last4: "", createdAt: new Date(), scopes: ["orders"] as const, expiresAt: null };
  const principal: Principal = {
    partnerId: "b7d03c56-1e94-4fa2-8c7b-6a2f905d13e8",
    environment: "test",
    firmName: "",
    tier: "trial",
    liveEnabled: false,
    member: null,
    key,
  };
  const refused = /Only a key without scopes may change embed origins/;
  await assert.rejects(addOrigin(running.deps, principal, "https://evil.example"), refused);
  await assert.rejects(removeOrigin(running.deps, principal, principal.partnerId), refused);
});

test("a session that was inserted into the database gives no access", async () => {
  const code = await waiting([coded]);
  const token = await session(code);
  await db.query(
    sql`UPDATE signer_embeds SET identified_at = now() WHERE session_sha256 = sha256(${Buffer.from(token)})`,
  );
  await assert.rejects(ceremony.view({ token, session: null }));
});

test("pages that ended a day ago are deleted", async () => {
  await ticketFor(await waiting([jane]));
  await sweepEmbeds(db, new Date(Date.now() + 2 * 24 * 3_600_000));
  const [row] = await db.query<{ n: number }>(sql`SELECT count(*)::int AS n FROM signer_embeds`);
  assert.equal(row?.n, 0);
});
