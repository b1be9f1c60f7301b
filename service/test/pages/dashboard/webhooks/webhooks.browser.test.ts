import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { verifyWebhook } from "@signsealship/sdk";
import { assertGoodLooks, type Browser, type OpenPage, startBrowser } from "@signsealship/testing/browser";
import type { Caught } from "@signsealship/testing/doubles/webhook-catcher";
import { writeEvents } from "@signsealship/testing/row-mac";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { giveLiveAccess, newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { type Client, openWebhooksService, type WebhooksService } from "../../../outgoing/webhooks/webhooks-service.ts";
import { signedIn } from "../signed-in-page.ts";

const { after, before, test } = testsNeeding("chromium", "openssl");

const path = "/dashboard/webhooks";
const secretForm = /svc_whsec_[a-z2-7]{52}/;
let running: WebhooksService;
let browser: Browser;
let acme: Client;
let dana: OpenPage;

before(async () => {
  [running, browser] = await Promise.all([openWebhooksService(), startBrowser()]);
  acme = await running.partner();
  dana = await signedIn(running.service, browser, { key: acme.key, width: 1280 });
  await welcomed(dana);
  await environment("Test");
});
after(async () => {
  await browser?.close();
  await running?.close();
});

const welcomed = ({ page }: OpenPage) => page.getByRole("heading", { level: 1, name: /^Welcome/ }).waitFor();
const address = (more = "") => `${running.service.baseUrl}${path}${more}`;
// Leaves out two things that the browser reports: error statuses, and requests that were aborted when a page was left.
const ownTroubles = ({ troubles }: OpenPage) => troubles.filter((line) => !/status of 40[049]|^failed: /.test(line));
const rows = () => dana.page.locator("#feed tbody tr");
const open = (id: string) => dana.page.goto(address(`/${id}`));
const text = async ({ page }: OpenPage) => (await page.locator("main").textContent()) ?? "";

async function environment(name: "Test" | "Live", { page } = dana): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
  await page.locator(".environment [aria-pressed=true]", { hasText: name }).waitFor();
}

/** Fills the form for a new webhook and sends it. */
async function create(url: string, topics: string[], { page } = dana): Promise<void> {
  await page.goto(address());
  await page.getByLabel("URL").fill(url);
  for (const topic of topics) await page.getByLabel(topic, { exact: true }).check();
  await page.getByRole("button", { name: "Create webhook" }).click();
}

/** The secret that the page shows, and the webhook's id. */
async function shown({ page } = dana): Promise<{ secret: string; id: string }> {
  const secret = (await page.locator("#secret code").textContent()) ?? "";
  assert.match(secret, secretForm);
  const link = await page.getByRole("link", { name: "I saved it" }).getAttribute("href");
  return { secret, id: link?.slice(path.length + 1) ?? "" };
}

async function created(url: string, topics: string[]): Promise<{ secret: string; id: string }> {
  await create(url, topics);
  await dana.page.getByRole("heading", { name: "Your webhook was created" }).waitFor();
  return shown();
}

const isSigned = ({ body, headers }: Caught, secret: string): Promise<boolean> =>
  verifyWebhook(body, String(headers["service-signature"]), secret);

const badges = () => rows().locator(".badge").allTextContents();

/** Waits until there are this many deliveries and none is pending. @returns their states, newest first */
const settled = (count: number, look = badges) =>
  until(async () => {
    const states = await look();
    return states.length === count && !states.includes("Pending") ? states : null;
  });

/** Reloads the page instead of waiting until it refreshes itself. */
async function reloaded(): Promise<string[]> {
  await dana.page.reload();
  return badges();
}

test("a webhook is created, its secret is shown once, and a signed test event arrives and is listed", async () => {
  const { page } = dana;
  await page.goto(address());
  await page.getByText("No webhooks yet").waitFor();
  const answers: (string | undefined)[] = [];
  page.on("response", (response) => {
    if (response.request().method() === "POST") answers.push(response.headers()["cache-control"]);
  });
  const { secret, id } = await created(`${running.catcher.url}/made`, ["order.created", "passport.sealed"]);
  assert.deepEqual(answers, ["no-store"]);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy signing secret" }).click();
  await page.getByText("Copied", { exact: true }).waitFor();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), secret);
  assert.equal(await page.locator("main a[href='/docs/webhooks']").count(), 1);

  await page.goto(address());
  assert.doesNotMatch(await page.content(), secretForm);
  const row = (await page.locator("#webhooks tbody tr").textContent()) ?? "";
  for (const cell of [`${running.catcher.url}/made`, "order.created", "passport.sealed", "Active"])
    assert.ok(row.includes(cell), cell);
  await page.getByRole("link", { name: "/made" }).click();
  await page.getByText("No deliveries yet").waitFor();
  assert.equal(page.url(), address(`/${id}`));
  assert.doesNotMatch(await page.content(), secretForm);

  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("A test event is on its way.").waitFor();
  const [caught] = await running.catcher.wait("/made");
  assert.ok(caught);
  assert.equal(caught.headers["service-event"], "webhook.test");
  assert.ok(await isSigned(caught, secret));
  // The list refreshes itself.
  assert.deepEqual(await settled(1), ["Delivered"]);
  const delivery = (await rows().first().textContent()) ?? "";
  for (const cell of ["webhook.test", "200", " ms"]) assert.ok(delivery.includes(cell), cell);
  assert.deepEqual(ownTroubles(dana), []);
});

test("a failed delivery states the reason, and its replay is a delivery of the same event", async () => {
  const { page } = dana;
  running.catcher.answer("/flaky", (_request, response) => response.writeHead(503).end("<b>away</b>"));
  const { id, secret } = await created(`${running.catcher.url}/flaky`, ["order.created"]);
  await acme.order();
  await running.catcher.wait("/flaky");
  await open(id);
  assert.deepEqual(await settled(1, reloaded), ["Failed"]);
  const failed = (await rows().first().textContent()) ?? "";
  for (const cell of ["order.created", "503", "Answered 503"]) assert.ok(failed.includes(cell), cell);
  await rows().first().getByRole("link").click();
  await page.getByRole("heading", { name: "What your system answered" }).waitFor();
  const shown = await text(dana);
  for (const part of ["Answered 503", "<b>away</b>", "byte for byte what was sent", "Service-Signature: t="])
    assert.ok(shown.includes(part), part);
  await page.getByRole("link", { name: "All deliveries" }).click();
  await page.getByLabel("Outcome").selectOption("failed");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.waitForURL(/status=failed/);
  assert.equal(await page.locator("#deliveries tbody tr").count(), 1);
  await open(id);
  running.catcher.answer("/flaky", (_request, response) => response.end());
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("The event is being sent again.").waitFor();
  const [first, second] = await running.catcher.wait("/flaky", 2);
  assert.ok(first && second);
  assert.equal(JSON.parse(String(second.body)).id, JSON.parse(String(first.body)).id);
  assert.ok(await isSigned(second, secret));
  assert.deepEqual(await settled(2, reloaded), ["Delivered", "Failed"]);
  assert.match((await rows().first().textContent()) ?? "", /\(replay\)/);
});

test("the latest of many deliveries are shown, and all of them on request", async () => {
  const { page } = dana;
  const { id } = await acme.subscribe("/many", ["payment.cleared"]);
  await running.events(
    acme.partnerId,
    "payment.cleared",
    Array.from({ length: 28 }, (_, n) => `gone${n}`),
  );
  await open(id);
  assert.deepEqual(new Set(await settled(25, reloaded)), new Set(["Failed"]));
  assert.match((await rows().first().textContent()) ?? "", /The record it was about no longer exists/);
  await page.getByRole("link", { name: "Show 3 more" }).click();
  await settled(28, reloaded);
});

test("a delivery that was not sent shows its present body, and no answer", async () => {
  const { page } = dana;
  const { id } = await acme.subscribe("/unsent", ["payment.cleared"]);
  await running.events(acme.partnerId, "payment.cleared", ["unsent"]);
  await open(id);
  await settled(1, reloaded);
  await rows().first().getByRole("link").click();
  await page.getByRole("heading", { name: "Nothing was sent" }).waitFor();
  const shown = await text(dana);
  for (const part of ["What we sent", "What your system answered"]) assert.ok(!shown.includes(part), part);
});

test("failed deliveries are sent again 200 at a time, the rest for the same period, and not while many are pending", async () => {
  const { page } = dana;
  const { id } = await acme.subscribe("/rest", ["payment.cleared"]);
  running.catcher.answer("/rest", () => {});
  const order = await acme.order();
  const about = { at: new Date(), topic: "payment.cleared", partnerId: acme.partnerId, environment: "test" } as const;
  const events = Array.from({ length: 201 }, () => ({ ...about, eventId: randomUUID(), subject: order }));
  await running.db.transaction((tx) => writeEvents(tx, events));
  const fail = () =>
    running.db.query(sql`
      UPDATE webhook_deliveries SET state = 'failed', reason = 'timeout', completed_at = created_at
      WHERE webhook_id = ${id} AND state = 'pending'`);
  const send = (name: string) => page.getByRole("button", { name }).click();
  await open(id);
  await send("Send again");
  await page.getByText("More than 200 deliveries of this webhook are on their way.").waitFor();
  await fail();
  await open(id);
  await send("Send again");
  await page.getByText("200 events are being sent again.").waitFor();
  await fail();
  await send("Send the rest again");
  await page.getByText("All events that failed in that time are being sent again.").waitFor();
  const [row] = await running.db.query<{ replays: number }>(sql`
    SELECT count(*) AS replays FROM webhook_deliveries WHERE webhook_id = ${id} AND replayed_from IS NOT NULL`);
  assert.equal(row?.replays, 201);
  await acme.ok("DELETE", `/api/partner/webhooks/${id}`);
});

test("viewing a webhook creates no public key; a button does", async () => {
  const { page } = dana;
  const { id } = await acme.subscribe("/keyed", ["order.created"]);
  const publicKey = "/api/partner/webhooks/public-key";
  await open(id);
  await acme.refused(404, "GET", publicKey);
  await page.getByRole("button", { name: "Make a public key" }).click();
  await page.getByText("The public key was created.").waitFor();
  const made = await acme.ok<{ publicKey: string }>("GET", publicKey);
  assert.ok((await text(dana)).includes(made.publicKey));
});

test("rotating asks for confirmation, shows the new secret once with the old one's end, and both sign", async () => {
  const { page } = dana;
  const { id, secret: old } = await created(`${running.catcher.url}/rotated`, ["order.created"]);
  await open(id);
  assert.equal(await page.getByRole("button", { name: "Rotate now" }).isVisible(), false);
  await page.locator("summary", { hasText: "Rotate the secret" }).click();
  await page.getByRole("button", { name: "Rotate now" }).click();
  await page.getByRole("heading", { name: "Your new signing secret" }).waitFor();
  const { secret, id: same } = await shown();
  assert.equal(same, id);
  assert.notEqual(secret, old);
  const end = Date.parse((await page.locator("#secret time").getAttribute("datetime")) ?? "");
  assert.ok(Math.abs(end - Date.now() - 24 * 3600_000) < 3600_000);
  await page.getByRole("link", { name: "I saved it" }).click();
  await page.getByRole("button", { name: "Send a test" }).click();
  const [caught] = await running.catcher.wait("/rotated");
  assert.ok(caught);
  assert.deepEqual([await isSigned(caught, secret), await isSigned(caught, old)], [true, true]);
  assert.equal(await isSigned(caught, `svc_whsec_${"a".repeat(52)}`), false);
  assert.doesNotMatch(await page.content(), secretForm);
});

test("deleting asks for confirmation; the webhook leaves the list and is unknown from then on", async () => {
  const { page } = dana;
  const { id } = await created(`${running.catcher.url}/ended`, ["order.created"]);
  await open(id);
  await page.locator("summary", { hasText: "Delete this webhook" }).click();
  await page.getByRole("button", { name: "Delete now" }).click();
  await page.getByText("The webhook was deleted.").waitFor();
  assert.ok(!(await text(dana)).includes("/ended"));
  assert.equal((await open(id))?.status(), 404);
});

test("a refusal of the form is shown next to it, and the typed text stays", async () => {
  const { page } = dana;
  const cases: [url: string, topics: string[], said: string][] = [
    ["http://hooks.example.com", ["order.created", "payment.cleared"], "A https:// webhook URL is required."],
    ["https://dana:secret@example.com", ["order.created"], "url must not contain a user name or a password."],
    [`${running.catcher.url}/none`, [], "Choose at least one topic."],
  ];
  for (const [url, topics, said] of cases) {
    await create(url, topics);
    await page.getByRole("alert").getByText(said, { exact: true }).waitFor();
    assert.equal(await page.getByLabel("URL").inputValue(), url);
    assert.equal(await page.locator("[type=checkbox]:checked").count(), topics.length);
  }
  assert.doesNotMatch(await page.content(), secretForm);
  assert.deepEqual(ownTroubles(dana), []);
});

test("list, refusal, secret and a webhook's page are accessible and fit", async () => {
  const { page } = dana;
  await created(`https://hooks.example.com/${"long".repeat(40)}`, ["order.created"]);
  await assertGoodLooks(dana);
  await create("https://x", []);
  await page.getByRole("alert").waitFor();
  await page.locator("#webhooks tbody tr").first().waitFor();
  await assertGoodLooks(dana);
  await page.goto(address());
  await page.getByRole("link", { name: "/flaky" }).click();
  await rows().first().waitFor();
  await page.locator("summary", { hasText: "Rotate the secret" }).click();
  await page.locator("summary", { hasText: "Delete this webhook" }).click();
  await assertGoodLooks(dana);
});

test("without script a webhook is created, tested, replayed, rotated and deleted", async () => {
  const opened = await signedIn(running.service, browser, { key: acme.key, width: 360, javaScript: false });
  await welcomed(opened);
  const { page } = opened;
  await environment("Test", opened);
  await create(`${running.catcher.url}/plain`, ["order.created"], opened);
  const { secret } = await shown(opened);
  await page.getByRole("link", { name: "I saved it" }).click();
  await page.getByRole("button", { name: "Send a test" }).click();
  // Waits for the page that follows the form, because a page that is still loading can't be reloaded. The delivery may
  // arrive while that page loads.
  await page.getByText("A test event is on its way.").waitFor();
  await running.catcher.wait("/plain");
  await until(async () => {
    await page.reload();
    return (await page.locator("#feed").textContent())?.includes("Delivered");
  });
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("The event is being sent again.").waitFor();
  const [first] = await running.catcher.wait("/plain", 2);
  assert.ok(first && (await isSigned(first, secret)));
  await page.locator("summary", { hasText: "Rotate the secret" }).click();
  await page.getByRole("button", { name: "Rotate now" }).click();
  assert.notEqual((await shown(opened)).secret, secret);
  await page.getByRole("link", { name: "I saved it" }).click();
  await page.getByText("Delete this webhook").click();
  await page.getByRole("button", { name: "Delete now" }).click();
  await page.getByText("The webhook was deleted.").waitFor();
  assert.deepEqual(ownTroubles(opened), []);
  await opened.close();
});

test("another firm's webhook, and the other environment's, look like unknown ones", async () => {
  const { id } = await acme.subscribe("/foreign", ["order.created"]);
  await acme.order();
  await running.catcher.wait("/foreign");
  const [delivery] = await until(async () => {
    const feed = await acme.ok<{ deliveries: { deliveryId: string }[] }>(
      "GET",
      `/api/partner/webhooks/${id}/deliveries`,
    );
    return feed.deliveries.length > 0 ? feed.deliveries : null;
  });
  const own = await acme.subscribe("/own", ["order.created"]);
  const other = await running.partner();
  const stranger = await signedIn(running.service, browser, { key: other.key, email: "x@river-title.com", width: 360 });
  await welcomed(stranger);
  const cookieOf = async ({ page }: OpenPage) => {
    const session = (await page.context().cookies()).find(({ name }) => name.endsWith("session"));
    return `${session?.name}=${session?.value}`;
  };
  const statuses = async (opened: OpenPage, webhook: string, deliveryId = "") => {
    const headers = { Cookie: await cookieOf(opened), Accept: "text/html" };
    const ask = async (method: string, more: string) =>
      (await fetch(address(`/${webhook}${more}`), { method, headers, redirect: "manual" })).status;
    const posts = ["/test", "/rotate", `/deliveries/${deliveryId}/replay`, "/delete"];
    return Promise.all([ask("GET", ""), ask("GET", "/deliveries"), ...posts.map((more) => ask("POST", more))]);
  };
  const unknown = Array(6).fill(404);
  assert.deepEqual(await statuses(stranger, id, delivery?.deliveryId), unknown);
  assert.deepEqual(await statuses(stranger, "x", "%00"), unknown);
  await stranger.page.goto(address());
  await stranger.page.getByText("No webhooks yet").waitFor();
  await environment("Test", stranger);
  await stranger.page.getByText("No webhooks yet").waitFor();
  await stranger.close();

  await giveLiveAccess(running.service, acme.partnerId);
  await dana.page.reload();
  await environment("Live");
  assert.deepEqual(await statuses(dana, id, delivery?.deliveryId), unknown);
  await dana.page.goto(address());
  await dana.page.getByText("No webhooks yet").waitFor();
  await environment("Test");
  // A delivery can't be replayed under the URL of another webhook, even if both have the same firm.
  const [, , , , replay] = await statuses(dana, own.id, delivery?.deliveryId);
  assert.equal(replay, 404);
  const left = await acme.ok<{ id: string }[]>("GET", "/api/partner/webhooks");
  assert.ok(left.some((webhook) => webhook.id === id));
});

test("the form refuses any invalid input with a page", async () => {
  const { page } = dana;
  const session = (await page.context().cookies()).find(({ name }) => name.endsWith("session"));
  const headers = { Cookie: `${session?.name}=${session?.value}`, Accept: "text/html" };
  const whole = { url: "https://hooks.example.com/x", "topic-order.created": "on" };
  const post = (body: Record<string, string>, more = {}) =>
    fetch(address(), { method: "POST", headers: { ...headers, ...more }, body: new URLSearchParams(body) });
  const bodies: [Record<string, string>, number][] = [
    [{}, 400],
    [{ ...whole, url: "https://a\0b.example" }, 400],
    [{ ...whole, url: `https://${"a".repeat(60_000)}` }, 400],
    [{ ...whole, url: "https://x\ud800.example" }, 400],
    [{ ...whole, "topic-order.created": "no" }, 400],
    [{ "topic-order.created": "on", "topic-nothing": "on" }, 400],
  ];
  for (const [body, status] of bodies) {
    const response = await post(body);
    assert.equal(response.status, status, JSON.stringify(body).slice(0, 80));
    assert.match(await response.text(), /role="alert"/);
  }
  assert.equal((await post(whole, { Origin: "https://evil.example" })).status, 403);
  assert.doesNotMatch(await (await fetch(address(), { headers })).text(), /hooks\.example\.com\/x"/);
});

/**
 * Creates a firm and a member of it. The member has live access, starts in test, and sends requests without a browser.
 */
async function member(email: string) {
  const firm = await running.partner();
  const { headers } = await newMember(running.service, email, firm.key);
  await giveLiveAccess(running.service, firm.partnerId);
  const asMember = { ...headers, Accept: "text/html" };
  const look = async (more = "") => (await fetch(address(more), { headers: asMember })).text();
  const post = async (more: string, fields: Record<string, string>) => {
    const answer = await postForm(address(more), fields, asMember);
    return { status: answer.status, location: answer.headers.get("location"), text: await answer.text() };
  };
  const environment = (name: string) =>
    postForm(`${running.service.baseUrl}/dashboard/environment`, { environment: name }, asMember);
  return { look, post, environment, list: () => firm.ok<{ id: string }[]>("GET", "/api/partner/webhooks") };
}

const submissionIn = (page: string) => /name="submission" value="([a-z2-7]{52})"/.exec(page)?.[1] ?? "";

test("a form for a new webhook creates one in the environment where it was opened, however often it is sent", async () => {
  const { look, post, environment, list } = await member("once@acme.example");
  const typed = { url: "https://hooks.example.com/once", "topic-order.created": "on" };
  const opened = { ...typed, submission: submissionIn(await look()), environment: "test" };
  await environment("live");
  const stale = await post("", opened);
  assert.equal(stale.status, 409);
  assert.match(stale.text, /role="alert"[\s\S]*You switched between test and live/);
  assert.ok(stale.text.includes(opened.submission));
  await environment("test");
  assert.deepEqual(await list(), []);

  assert.equal((await post("", { ...opened, url: "http://x" })).status, 400);
  const answers = await Promise.all([post("", opened), post("", opened)]);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 303]);
  for (const { status, location, text } of [...answers, await post("", opened)]) {
    assert.equal(secretForm.test(text), status === 200);
    if (status === 303) assert.equal(location, `${path}?done=webhook-there`);
  }
  assert.match(await look("?done=webhook-there"), /role="status"[\s\S]*already created the webhook/);
  assert.equal((await list()).length, 1);
  const again = await post("", typed);
  assert.equal(again.status, 400);
  assert.match(again.text, /role="alert"[\s\S]*This URL already has an active webhook\./);
  assert.equal((await post("", { ...typed, url: "https://hooks.example.com/other" })).status, 200);
  assert.equal((await list()).length, 2);
});

test("a secret is rotated once by one form, even when its answer is loaded again", async () => {
  const { look, post, list } = await member("rotate@acme.example");
  await post("", { url: "https://hooks.example.com/rotated", "topic-order.created": "on" });
  const [{ id } = { id: "" }] = await list();
  const secrets = async () => {
    const [row] = await running.db.query<{ count: number }>(sql`
      SELECT count(*) AS count FROM webhook_secrets WHERE webhook_id = ${id}`);
    return row?.count;
  };
  const submission = submissionIn(await look(`/${id}`));
  const [first, second] = [await post(`/${id}/rotate`, { submission }), await post(`/${id}/rotate`, { submission })];
  assert.deepEqual([first.status, secretForm.test(first.text)], [200, true]);
  assert.deepEqual([second.status, second.location], [303, `${path}/${id}?done=webhook-rotated-before`]);
  assert.match(await look(`/${id}?done=webhook-rotated-before`), /already rotated the secret/);
  assert.equal(await secrets(), 2);
  await post(`/${id}/rotate`, { submission: submissionIn(await look(`/${id}`)) });
  assert.equal(await secrets(), 3);
});

test("the list of deliveries is a part of a page: when opened alone it redirects there", async () => {
  const { headers } = await newMember(running.service, "part@acme.example", acme.key);
  const { id } = await acme.subscribe("/part", ["order.created"]);
  const ask = (more: Record<string, string>) =>
    fetch(address(`/${id}/deliveries?all=1`), { headers: { ...headers, ...more }, redirect: "manual" });
  const part = await ask({ "HX-Request": "true" });
  assert.deepEqual([part.status, /<html|<form/.test(await part.text())], [200, false]);
  const opened = await ask({});
  assert.deepEqual(
    [opened.status, opened.headers.get("location")],
    [303, address(`/${id}`).replace(running.service.baseUrl, "")],
  );
});
