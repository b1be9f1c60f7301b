import assert from "node:assert/strict";
import { test } from "node:test";
import { databaseOf } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import fc from "fast-check";
import { cookieOf } from "../../../src/firms/members/sessions/cookies.ts";
import { returnPath } from "../../../src/firms/members/sign-in/sign-in.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { askForLink, cookieIn, linksTo, postForm, signIn } from "./signed-in-member.ts";

const folder = temporaryFolder();

const service = await forTests(
  startService({
    DATA_DIR: folder.path,
    RATE_LIMITS: "off",
    LOG_LEVEL: "info",
    TRUST_PROXY: "127.0.0.1",
  }),
);

const use = (path: string, headers: Record<string, string>) => postForm(service.baseUrl + path, {}, headers);
const look = (path: string, headers: Record<string, string> = {}) => fetch(service.baseUrl + path, { headers });
const statusOfMe = async (cookie: string) =>
  (await fetch(`${service.baseUrl}/api/partner/me`, { headers: { Cookie: cookie } })).status;

test("a mailed link signs in the browser that requested it; the cookie is Secure, HttpOnly, SameSite=Lax and limited to this host", async () => {
  const { answer, cookie } = await signIn(service, "Flags@Harbor-Title.com");
  assert.equal(answer.status, 303);
  assert.equal(answer.headers.get("location"), "/dashboard");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const [set = ""] = answer.headers.getSetCookie();
  assert.match(set, /^__Host-session=[a-z2-7]{52}; Max-Age=1209600; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  assert.equal(await statusOfMe(cookie), 403);
});

test("a link works once", async () => {
  const { browser, path } = await askForLink(service, "once@harbor-title.com");
  assert.equal((await use(path, { Cookie: browser })).status, 303);
  const again = await use(path, { Cookie: browser });
  assert.equal(again.status, 404);
  assert.deepEqual(again.headers.getSetCookie(), []);
  assert.match(await again.text(), /This link cannot be used/);
});

test("of twenty concurrent uses of one link, one begins a session", async () => {
  const { browser, path } = await askForLink(service, "race@harbor-title.com");
  const answers = await Promise.all(Array.from({ length: 20 }, () => use(path, { Cookie: browser })));
  assert.equal(answers.filter(({ status }) => status === 303).length, 1);
  assert.equal(answers.filter(({ status }) => status === 404).length, 19);
});

test("viewing a link does not use it up, and a mail program that follows it learns nothing", async () => {
  const { browser, path } = await askForLink(service, "look@harbor-title.com");
  const stranger = await look(path);
  assert.equal(stranger.status, 404);
  assert.doesNotMatch(await stranger.text(), /look@harbor-title\.com/);
  for (let i = 0; i < 3; i++)
    assert.match(await (await look(path, { Cookie: browser })).text(), /look@harbor-title\.com/);
  assert.equal((await use(path, { Cookie: browser })).status, 303);
});

test("a link gives no access in another browser, so nobody can be signed in to a stranger's account", async () => {
  const { browser, path } = await askForLink(service, "bound@harbor-title.com");
  const other = await askForLink(service, "other@harbor-title.com");
  for (const headers of [{}, { Cookie: other.browser }, { Cookie: "__Host-sign-in=" }, { Cookie: "__Host-sign-in=x" }])
    assert.equal((await use(path, headers)).status, 404);
  assert.equal((await use(path, { Cookie: browser })).status, 303);
});

test("all links that one browser requested work", async () => {
  const email = "several@harbor-title.com";
  const first = await askForLink(service, email);
  const second = await askForLink(service, email, "/dashboard", { Cookie: first.browser });
  assert.equal(second.browser, first.browser);
  for (const { path } of [first, second]) assert.equal((await use(path, { Cookie: first.browser })).status, 303);
});

test("an existing session of a browser is never taken over: signing in creates a new one and ends the old one", async () => {
  const planted = `__Host-session=${"a".repeat(52)}`;
  const old = await signIn(service, "fixed@harbor-title.com");
  const { browser, path } = await askForLink(service, "fixed@harbor-title.com");
  const answer = await use(path, { Cookie: `${planted}; ${browser}` });
  const fresh = cookieIn(answer, "__Host-session");
  assert.notEqual(fresh, planted);
  assert.equal(await statusOfMe(planted), 401);
  assert.equal(await statusOfMe(fresh), 403);
  const next = await askForLink(service, "fixed@harbor-title.com");
  await use(next.path, { Cookie: `${old.cookie}; ${next.browser}` });
  assert.equal(await statusOfMe(old.cookie), 401);
});

test("the answer does not reveal whether an address is known", async () => {
  await signIn(service, "known@harbor-title.com");
  const ask = async (email: string) => {
    const answer = await postForm(`${service.baseUrl}/sign-in`, { email });
    const headers = Object.fromEntries(answer.headers);
    for (const name of ["date", "request-id", "set-cookie"]) delete headers[name];
    return { status: answer.status, headers, page: (await answer.text()).replaceAll(email, "ADDRESS") };
  };
  const known = await ask("known@harbor-title.com");
  assert.equal(known.status, 200);
  assert.deepEqual(await ask("never@harbor-title.com"), { ...known, headers: { ...known.headers } });
});

test("an address gets five links at a time, and no answer reveals when there are no more", async () => {
  const email = "much@harbor-title.com";
  const pages = new Set<string>();
  for (let i = 0; i < 8; i++) pages.add(await (await postForm(`${service.baseUrl}/sign-in`, { email })).text());
  assert.equal(pages.size, 1);
  await until(() => linksTo(service, email).length === 5);
  // Jobs begin in the order of their requests. So when the marker's mail has arrived, the jobs of all earlier requests
  // have begun.
  const marker = await askForLink(service, "marker@harbor-title.com");
  assert.notEqual(marker.path, "");
  assert.equal(linksTo(service, email).length, 5);
});

test("a stranger who uses up links of an address does not affect its owner", async () => {
  const email = "victim@harbor-title.com";
  const stranger = { "X-Forwarded-For": "2001:db8::7" };
  for (let i = 0; i < 8; i++) await postForm(`${service.baseUrl}/sign-in`, { email }, stranger);
  const neighbour = { "X-Forwarded-For": "2001:db8::8" };
  await postForm(`${service.baseUrl}/sign-in`, { email }, neighbour);
  // Waits for all mails that the requests above caused, so that none of them is mistaken for the owner's next mail.
  await until(() => linksTo(service, email).length === 5);
  const { browser, path } = await askForLink(service, email);
  assert.equal((await use(path, { Cookie: browser })).status, 303);
  assert.equal(linksTo(service, email).length, 6);
});

const fromNetwork = (n: number) => ({ "X-Forwarded-For": `2001:db8:0:${n.toString(16)}::1` });

/**
 * Strangers in 60 networks each request a link, and the service mails 20 links. @returns the cookie of the last
 * stranger
 */
async function flood(email: string): Promise<string> {
  let browser = "";
  for (let n = 0; n < 60; n++)
    browser = cookieIn(await postForm(`${service.baseUrl}/sign-in`, { email }, fromNetwork(n)), "__Host-sign-in");
  await until(() => linksTo(service, email).length === 20);
  return browser;
}

test("strangers in many networks lock nobody out: an address gets 20 mails, and each link works in a browser that then requests one", async () => {
  const email = "flooded@harbor-title.com";
  const stranger = await flood(email);
  const owner = await postForm(`${service.baseUrl}/sign-in`, { email }, fromNetwork(99));
  const page = await owner.text();
  assert.doesNotMatch(page, /We sent/);
  assert.match(page, /their links still work here/);
  const links = linksTo(service, email);
  assert.equal(links.length, 20, "no mail beyond the bound");
  const [newest = "", oldest = ""] = [links[0], links.at(-1)];
  const browser = { Cookie: cookieIn(owner, "__Host-sign-in") };
  assert.equal((await use(newest, {})).status, 404, "a browser that did not ask");
  assert.equal((await use(newest, browser)).status, 303);
  assert.equal((await use(newest, { Cookie: stranger })).status, 404, "used once, it is used for all");
  assert.equal((await use(oldest, browser)).status, 303);
});

test("of all browsers that share a link one signs in, when all use it concurrently", async () => {
  const email = "shared@harbor-title.com";
  await flood(email);
  const asked = await Promise.all(
    Array.from({ length: 6 }, (_, n) => postForm(`${service.baseUrl}/sign-in`, { email }, fromNetwork(200 + n))),
  );
  const [path = ""] = linksTo(service, email);
  const used = await Promise.all(asked.map((each) => use(path, { Cookie: cookieIn(each, "__Host-sign-in") })));
  assert.deepEqual(used.map(({ status }) => status).toSorted(), [303, 404, 404, 404, 404, 404]);
});

test("a browser that signed in before gets its own link, whatever strangers requested, and strangers' links don't work in it", async () => {
  const email = "comes-again@harbor-title.com";
  const { answer } = await signIn(service, email);
  const set = answer.headers.getSetCookie().find((cookie) => cookie.startsWith("__Host-known=")) ?? "";
  assert.match(set, /^__Host-known=[a-z2-7]{52}; Max-Age=31536000; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  const known = set.split(";")[0] ?? "";
  const before = linksTo(service, email).length;
  for (let n = 0; n < 60; n++) await postForm(`${service.baseUrl}/sign-in`, { email }, fromNetwork(n));
  await until(() => linksTo(service, email).length === before + 20);
  const { path, browser } = await askForLink(service, email, "/dashboard", { Cookie: known });
  const stranger = await postForm(`${service.baseUrl}/sign-in`, { email }, fromNetwork(77));
  assert.equal((await use(path, { Cookie: cookieIn(stranger, "__Host-sign-in") })).status, 404);
  assert.equal((await use(path, { Cookie: known })).status, 404, "being known signs nobody in");
  assert.equal((await use(path, { Cookie: browser })).status, 303);
  const other = "someone-else@harbor-title.com";
  await flood(other);
  await postForm(`${service.baseUrl}/sign-in`, { email: other }, { Cookie: known });
  const marker = await askForLink(service, "marker-two@harbor-title.com");
  assert.notEqual(marker.path, "");
  assert.equal(linksTo(service, other).length, 20, "known for one address is not known for another");
});

test("an invalid email address is refused next to the form, with the typed text", async () => {
  for (const email of [
    "",
    "dana",
    "dana@",
    "@x.com",
    "a b@x.com",
    "\0@x.com",
    "dän@x.com",
    `${"a".repeat(300)}@x.com`,
    "<b>@x.com",
  ]) {
    const answer = await postForm(`${service.baseUrl}/sign-in`, { email });
    assert.equal(answer.status, 400, email);
    assert.match(await answer.text(), /email must be an email address/);
  }
  const empty = await fetch(`${service.baseUrl}/sign-in`, { method: "POST", headers: { Accept: "text/html" } });
  assert.equal(empty.status, 400);
});

test("a form of another site requests nothing and uses nothing", async () => {
  const { browser, path } = await askForLink(service, "cross@harbor-title.com");
  for (const headers of [{ Origin: "https://evil.example" }, { Origin: "null" }, { "Sec-Fetch-Site": "cross-site" }]) {
    assert.equal((await postForm(`${service.baseUrl}/sign-in`, { email: "x@y.example" }, headers)).status, 403);
    assert.equal((await use(path, { Cookie: browser, ...headers })).status, 403);
  }
  const own = { Cookie: browser, Origin: service.baseUrl, "Sec-Fetch-Site": "same-origin" };
  assert.equal((await use(path, own)).status, 303);
});

test("after signing in a person is redirected to the requested page, and never to another site", async () => {
  const { browser, path } = await askForLink(service, "way@harbor-title.com", "/dashboard/orders?status=Paid");
  assert.equal((await use(path, { Cookie: browser })).headers.get("location"), "/dashboard/orders?status=Paid");
  const led = await askForLink(service, "way@harbor-title.com", "//evil.example/dashboard");
  assert.equal((await use(led.path, { Cookie: led.browser })).headers.get("location"), "/dashboard");
});

test("the address to return to is always a path of the dashboard", () => {
  for (const text of [
    undefined,
    "",
    "https://evil.example/dashboard",
    "//evil.example/dashboard",
    "/\\evil.example",
    "/dashboard/..//evil.example",
    "/dashboard/../../api/partner/me",
    "/dashboard\\..\\..\\evil",
    "/dashboardx",
    "/sign-out",
    "javascript:alert(1)",
    "/dashboard@evil.example",
  ])
    assert.match(returnPath(text), /^\/dashboard(?:\/?$|\/[^/\\]|\?)/, text);
  assert.equal(returnPath("/dashboard/rooms?done=x"), "/dashboard/rooms?done=x");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `/dashboard${text}`),
      ),
      (text) => {
        const url = new URL(returnPath(text), "https://ours.example");
        assert.equal(url.origin, "https://ours.example");
        assert.match(url.pathname, /^\/dashboard(?:\/|$)/);
      },
    ),
  );
});

test("a cookie is read among any others, and an invalid token counts as none", () => {
  const token = "b".repeat(52);
  assert.equal(cookieOf(`a=1; __Host-session=${token}; b=2`, "__Host-session"), token);
  for (const header of [
    undefined,
    "",
    "__Host-session",
    "__Host-session=",
    `__Host-session=${token}x`,
    `X__Host-session=${token}`,
  ])
    assert.equal(cookieOf(header, "__Host-session"), undefined, header);
  fc.assert(
    fc.property(fc.string(), (header) => {
      const found = cookieOf(header, "__Host-session");
      assert.ok(found === undefined || /^[a-z2-7]{52}$/.test(found));
    }),
  );
});

test("neither tables nor logs contain a token of a link, a browser or a session", async () => {
  const { cookie } = await signIn(service, "hashed@harbor-title.com");
  const { browser, path } = await askForLink(service, "hashed@harbor-title.com");
  const tokens = [cookie.split("=")[1], browser.split("=")[1], path.split("/").at(-1)];
  const db = await databaseOf(folder.path);
  try {
    for (const table of [sql`sessions`, sql`sign_in_links`, sql`users`, sql`jobs`, sql`audit_log`]) {
      const rows = JSON.stringify(await db.query(sql`SELECT t::text FROM ${table} t`));
      for (const token of tokens) assert.ok(token && !rows.includes(token), table.text);
    }
  } finally {
    await db.close();
  }
  // Without a mail server, the terminal shows a mail with its link. The log lines must not contain the link, because
  // logs are stored and forwarded.
  const log = (service.stdout() + service.stderr()).split("\n").filter((line) => line.startsWith("{"));
  assert.ok(log.length > 0);
  for (const token of tokens) assert.ok(token && !log.some((line) => line.includes(token)));
});
