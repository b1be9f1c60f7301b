import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { actName as faxAct } from "../../src/delivery/faxing/deps.ts";
import { buyLabelAct } from "../../src/delivery/shipping/labels/buy.ts";
import { refundLabelAct } from "../../src/delivery/shipping/labels/refund.ts";
import { languages } from "../../src/kernel/platform/languages.ts";
import { actsBody } from "../../src/pages/operator/acts/page.ts";
import { render } from "../../src/pages/ui/render.ts";
import { readSiteTexts } from "../../src/pages/visitor/site-pages.ts";
import { actWords } from "../../src/providers/providers.ts";
import { json, openMembersService } from "../firms/members/members-service.ts";
import { newMember, postForm } from "../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());
const { service } = running;

/** Words that only programs need, each with the reason why people should not read it. */
const refused: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:Created|Esign|Notarization|Quote|Awaiting|Manual|Identity|Refund|Fax|Shipping|Payment|On)(?:Hold|[A-Z][a-z]+)\b/,
    "a status's name",
  ],
  [
    /\b(?:payment\.cleared|signature\.completed|shipment\.delivered|passport\.sealed)\b|\b[a-z]+\.[a-z]+_[a-z_]+\b/,
    "an event's name",
  ],
  [/\b(?:label|letter|fax)\.[a-z]+\b/, "an act's name"],
  [/\b(?:member|operator|key|partner|provider|signer):\S/, "an actor's name in the log"],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/i, "a UUID"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d/, "a time for machines"],
];

/** The text that a person reads. Text marked as code is omitted, because people only copy it. */
const textOf = (page: string): string =>
  page
    .replace(/<(script|style|code|head)\b.*?<\/\1>/gs, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");

async function assertForPeople(path: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(service.baseUrl + path, { headers: { Accept: "text/html", ...headers } });
  const text = textOf(await answer.text());
  assert.equal(answer.status, 200, path);
  assertWords(path, text);
  return text;
}

/** Pages for developers, which show names that the developers' programs use. */
const forDevelopers = ["/dashboard/webhooks", "/dashboard/keys"];

/**
 * Reads the page at `start` and all linked pages below it. Opens two pages of a kind, such as two orders.
 * @returns the kinds of pages, with `:` in place of each code, number or US state
 */
async function assertAllForPeople(start: string, headers: Record<string, string>): Promise<string[]> {
  const waiting = [start];
  const seen = new Set<string>();
  const kinds = new Map<string, number>();
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const answer = await fetch(service.baseUrl + path, { headers: { Accept: "text/html", ...headers } });
    assert.equal(answer.status, 200, path);
    if (!answer.headers.get("content-type")?.startsWith("text/html")) continue;
    const page = await answer.text();
    assertWords(path, textOf(page));
    for (const [, found = ""] of page.matchAll(/<a\b[^>]*\bhref="([^"#]+)/g)) {
      if (!/[/?]/.test(found.charAt(start.length)) || !found.startsWith(start) || seen.has(found)) continue;
      if (forDevelopers.some((each) => found === each || found.startsWith(`${each}/`))) continue;
      seen.add(found);
      const kind = kindOf(found);
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      if ((kinds.get(kind) ?? 0) <= 2) waiting.push(found.replaceAll("&amp;", "&"));
    }
  }
  return [...kinds.keys()];
}

const kindOf = (path: string): string =>
  path.replace(/\?.*/, "").replace(/\/(?:[0-9a-f-]{36,}|[a-z]+-[0-9a-f]{64}|\d+|[A-Z]{2})(?=\/|\.|$)/g, "/:");

function assertWords(path: string, text: string): void {
  for (const [pattern, what] of refused) {
    const found = pattern.exec(text);
    assert.equal(
      found,
      null,
      `${path} shows ${what}: …${text.slice(Math.max(0, (found?.index ?? 0) - 60), (found?.index ?? 0) + 60)}…`,
    );
  }
}

describe("pages for people contain no words for machines", async () => {
  const { key } = await running.newPartner();
  const member = await newMember(service, running.somebody(), key);
  const { post } = newClient(service.baseUrl, key);
  const { roomCode } = await post("/api/rooms", { name: "12 Elm Street" });
  const place = async () => {
    const body = orderForm({ ...minimal, svc_sign: "true" });
    const { orderCode } = await post<{ orderCode: string }>("/api/partner/orders", body);
    await post(`/api/rooms/${roomCode}/orders`, { orderCode });
    return orderCode;
  };
  const [done, waiting, gone, held] = [await place(), await place(), await place(), await place()];
  const own = (code: string, form: string, fields = {}) =>
    postForm(`${service.baseUrl}/dashboard/orders/${code}/${form}`, fields, member.headers);
  await post(`/api/partner/sandbox/orders/${done}/checkout`);
  await own(done, "sandbox/complete");
  await own(done, "notes", { note: "Called the client" });
  await own(gone, "cancel", { reason: "Withdrawn" });
  await post(`/api/partner/sandbox/orders/${held}/checkout`);
  await service.cli("order", "move", held, "OnHold", "--reason", "Which county is it?");
  await post(`/api/rooms/${roomCode}/passport`);

  test("on a client's pages, in each language", async () => {
    for (const language of languages)
      for (const path of [done, waiting, gone].map((code) => `/orders/${code}`).concat(`/rooms/${roomCode}`))
        await assertForPeople(`${path}?lang=${language}`);
  });

  test("on a member's pages", async () => {
    for (const code of [done, waiting, gone]) await assertForPeople(`/dashboard/orders/${code}`, member.headers);
    const read = await assertAllForPeople("/dashboard", member.headers);
    for (const path of ["/rooms/:", "/statements", "/passports", "/team", "/settings", "/security", "/closings/new"])
      assert.ok(read.includes(`/dashboard${path}`), path);
  });

  test("on an operator's pages", async () => {
    const { url } = await service.cli("operator", "link");
    const signedIn = await postForm(service.baseUrl + new URL(url ?? "").pathname, {});
    const cookie = signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    await postForm(`${service.baseUrl}/operator/environment`, { environment: "test" }, { cookie });
    for (const code of [done, waiting, gone]) {
      const text = await assertForPeople(`/operator/orders/${code}`, { cookie });
      assert.match(text, /Order placed/);
    }
    const read = await assertAllForPeople("/operator", { cookie });
    for (const path of ["/tasks/order_on_hold", "/payments", "/refunds", "/refunds/new", "/people", "/health/checks"])
      assert.ok(read.includes(`/operator${path}`), path);
    for (const path of ["/notaries", "/notaries/rules/:", "/notary/recordings", "/partners/:", "/approvals"])
      assert.ok(read.includes(`/operator${path}`), path);
  });

  test("where an operator reads about acts at providers, each of which has words", () => {
    const defined = [buyLabelAct, refundLabelAct, "letter.send", "letter.cancel", faxAct];
    assert.deepEqual(Object.keys(actWords).sort(), [...defined].sort());
    const now = new Date("2026-01-05T10:00:00Z");
    const times = { intendedAt: now, begunAt: now, lookAt: null, endedAt: null, endedBy: null, why: null };
    const acts = defined.map(
      (act, id) => ({ id, act, provider: "lob", attempt: 1, state: "unknown", tries: 1, ...times }) as const,
    );
    const text = textOf(render(actsBody({ code: done, status: "Held", acts, mayResolve: true, now })));
    assertWords("the page of acts", text);
    assert.match(text, /Lob: mailing the letter/);
  });

  test("an operator finds a firm's orders by its name", async () => {
    const { url } = await service.cli("operator", "link");
    const signedIn = await postForm(service.baseUrl + new URL(url ?? "").pathname, {});
    const cookie = signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const listed = async (query: string) =>
      textOf(await (await fetch(`${service.baseUrl}/operator/orders?${query}`, { headers: { cookie } })).text());
    const orders = (typed: string) => listed(`partner=${typed}`);
    assert.match(await listed("service=fly"), /service must be one of: sign, notarize, ship, fax\./);
    assert.match(await orders("5a1f35c0-2f6b-4b0e-9d51-2a8f3f1c0b77"), /no firm has this id/);
    assert.match(await orders("no-such-firm"), /no firm’s name contains this/);
    for (const name of ["Zoe Law", "A Zoe Law", "B Zoe Law", "C Zoe Law"]) await service.cli("partner", "create", name);
    assert.match(await orders("Zoe"), /more than one firm’s name contains this/);
    assert.doesNotMatch(await orders("zoe law"), /more than one firm’s name/);
  });
});

describe("public pages of the service", () => {
  test("show the prices of the price book, with the discounts, and link to the operator's texts", async () => {
    const text = await assertForPeople("/prices");
    for (const shown of [
      "Document workflow $12.00",
      "Sealed fax delivery $9.00",
      "Closing Desk 15%",
      "USPS Priority Mail",
    ])
      assert.ok(text.includes(shown), shown);
    const page = await (await fetch(`${service.baseUrl}/prices`)).text();
    for (const path of ["/privacy", "/terms", "/contact", "/prices"]) assert.ok(page.includes(`href="${path}"`), path);
  });

  test("say so when the operator has published no text, and promise nothing", async () => {
    for (const path of ["/privacy", "/terms", "/contact"])
      assert.match(await assertForPeople(path), /The operator of this service has not published/);
  });

  test("show the operator's own texts, which the start reads, refusing a missing or empty file", () => {
    const folder = temporaryFolder();
    const file = join(folder.path, "terms.md");
    writeFileSync(file, "We *keep* what you send.\n");
    assert.deepEqual(readSiteTexts({ privacy: null, terms: file, contact: null }), {
      privacy: null,
      terms: "We *keep* what you send.",
      contact: null,
    });
    writeFileSync(file, " \n");
    assert.throws(
      () => readSiteTexts({ privacy: file, terms: null, contact: null }),
      /^StartupError: PRIVACY_TEXT must/,
    );
    const none = join(folder.path, "none.md");
    assert.throws(
      () => readSiteTexts({ privacy: null, terms: null, contact: none }),
      /CONTACT_TEXT must be a file that/,
    );
    folder.remove();
  });
});

test("no link leads from a public room to the client's prices", async () => {
  const { headers } = await running.newPartner();
  const call = async (path: string, body: BodyInit, more = {}) =>
    (await running.call(path, { method: "POST", headers: { ...headers, ...more }, body })).body;
  const { roomCode } = await call("/api/rooms", JSON.stringify({ name: "12 Elm Street" }), json);
  const { orderCode } = await call("/api/partner/orders", orderForm({ ...minimal, svc_sign: "true" }));
  await call(`/api/rooms/${roomCode}/orders`, JSON.stringify({ orderCode }), json);
  const page = await (await fetch(`${service.baseUrl}/rooms/${roomCode}`)).text();
  assert.match(page, /class="card order-card"/);
  assert.ok(!page.includes(`/orders/${orderCode}`) && !/\$\d/.test(page));
});
