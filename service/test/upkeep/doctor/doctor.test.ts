import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { type CalendarDouble, startCalendar } from "@signsealship/testing/doubles/calendar";
import { startMailCatcher } from "@signsealship/testing/doubles/mail-catcher";
import { type StripeDouble, startStripe } from "@signsealship/testing/doubles/stripe";
import { startTsa, type TsaDouble } from "@signsealship/testing/doubles/tsa";
import { freePort } from "@signsealship/testing/free-port";
import { openHarness } from "@signsealship/testing/harness";
import { runCli, temporaryFolder } from "@signsealship/testing/service";
import { needs, testsNeeding } from "@signsealship/testing/tools/tools";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { neededEvents } from "../../../src/orders/payments/processor/webhook-endpoints.ts";

type Check = { name: string; result: string; detail: string };

const { after, before, describe, test } = testsNeeding("openssl");
const folder = temporaryFolder();
let tsa: TsaDouble;
let calendar: CalendarDouble;
let stripe: StripeDouble;
let mail: Awaited<ReturnType<typeof startMailCatcher>>;
let silent: Server;
/** The setting that trusts the root of the test's time-stamp authority. */
let trusted: { TSA_TRUST: string };
const taken = new Set<Socket>();
const silentPort = () => (silent.address() as AddressInfo).port;

before(async () => {
  [tsa, calendar, mail, stripe] = await Promise.all([startTsa(), startCalendar(), startMailCatcher(), startStripe()]);
  // A server that accepts every connection and never responds.
  silent = createServer((socket) => {
    taken.add(socket);
    socket.on("error", () => {});
  }).listen(0, "127.0.0.1");
  await once(silent, "listening");
  trusted = { TSA_TRUST: join(folder.path, "tsa.pem") };
  writeFileSync(trusted.TSA_TRUST, tsa.caPem);
});
after(async () => {
  for (const socket of taken) socket.destroy();
  silent.close();
  await Promise.all([tsa.close(), calendar.close(), mail.close(), stripe.close()]);
  folder.remove();
});

async function doctor(env: Record<string, string>) {
  const { code, stdout } = await runCli({ DATA_DIR: folder.path, ...env }, "doctor", "--json");
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  return { code, ok, of: (name: string) => checks.filter((check) => check.name === name) };
}

const processor = () => stripe.settings("test");

const outside = ["time-stamping authority", "calendar", "mail", "redis"];

/** Starts a real Redis server on a free port. The server requires a password. */
async function startRedis() {
  const port = await freePort();
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--requirepass", "open-sesame"];
  const server = spawn("redis-server", options, { stdio: ["ignore", "pipe", "ignore"] });
  for await (const chunk of server.stdout) if (String(chunk).includes("Ready to accept connections")) break;
  const ended = once(server, "exit");
  const stop = async () => {
    server.kill("SIGKILL");
    await ended;
  };
  return { port, stop };
}

describe("doctor", () => {
  test("finds no fault when everybody answers, and leaves no data with them", needs("redis"), async () => {
    const redis = await startRedis();
    try {
      const { code, ok, of } = await doctor({
        ...trusted,
        TSA_URLS: tsa.url,
        OTS_CALENDARS: `${calendar.url},${calendar.url}`,
        SMTP_URL: mail.url,
        REDIS_URL: `redis://:open-sesame@127.0.0.1:${redis.port}`,
      });
      assert.deepEqual([code, ok], [0, true]);
      const found = outside.flatMap(of);
      assert.deepEqual(
        found.map(({ result }) => result),
        ["ok", "ok", "ok", "ok", "ok"],
      );
      assert.match(of("time-stamping authority")[0]?.detail ?? "", /stamps, its time was 20\d\d-/);
      assert.equal(JSON.stringify(found).includes("open-sesame"), false);
      assert.deepEqual(calendar.requests, ["/", "/"]);
      assert.deepEqual([calendar.submitted.length, mail.caught.length], [0, 0]);

      const [locked] = (await doctor({ REDIS_URL: `redis://:wrong@127.0.0.1:${redis.port}` })).of("redis");
      assert.equal(locked?.result, "failed");
    } finally {
      await redis.stop();
    }
  });

  test("warns of an authority that needs no root", async () => {
    const { code, of } = await doctor({ TSA_URLS: tsa.url });
    const [found] = of("time-stamping authority");
    assert.deepEqual([code, found?.result], [0, "warning"]);
    assert.match(found?.detail ?? "", /stamps, its time was .*TSA_TRUST is not set/);
  });

  test("names each unreachable server, and exits with 1", async () => {
    const port = await freePort();
    const { code, ok, of } = await doctor({
      ...trusted,
      TSA_URLS: `${tsa.url},http://127.0.0.1:${port}`,
      OTS_CALENDARS: `http://127.0.0.1:${port},${calendar.url}`,
      SMTP_URL: `smtp://127.0.0.1:${port}`,
      REDIS_URL: `redis://127.0.0.1:${port}`,
    });
    assert.deepEqual([code, ok], [1, false]);
    assert.deepEqual(
      outside.flatMap(of).map(({ result }) => result),
      ["ok", "warning", "warning", "ok", "failed", "failed"],
    );
    for (const { result, detail } of outside.flatMap(of)) if (result !== "ok") assert.match(detail, /ECONNREFUSED/);
  });

  test("does not wait long for servers that accept a connection and send nothing", async () => {
    const { code, of } = await doctor({
      TSA_URLS: `http://127.0.0.1:${silentPort()}`,
      OTS_CALENDARS: `http://127.0.0.1:${silentPort()}`,
      SMTP_URL: `smtp://127.0.0.1:${silentPort()}`,
      REDIS_URL: `redis://127.0.0.1:${silentPort()}`,
    });
    assert.equal(code, 1);
    assert.deepEqual(
      outside.flatMap(of).map(({ result }) => result),
      ["warning", "warning", "failed", "failed"],
    );
  });

  test("warns of an authority with an invalid token, and of a failing calendar; sealing continues without them", async () => {
    tsa.order("wrong-imprint");
    calendar.order("server-error");
    try {
      const { code, of } = await doctor({ TSA_URLS: tsa.url, OTS_CALENDARS: calendar.url });
      assert.equal(code, 0);
      assert.match(of("time-stamping authority")[0]?.detail ?? "", /messageImprint/);
      assert.match(of("calendar")[0]?.detail ?? "", /500/);
    } finally {
      tsa.order("proper");
      calendar.order("proper");
    }
  });

  test("states what is missing when no such server is set", async () => {
    const { code, of } = await doctor({ REFUND_APPROVAL: "solo" });
    assert.equal(code, 0);
    assert.equal(of("refunds")[0]?.result, "warning");
    const without = ["time-stamping authorities", "calendars", "mail", "redis", "webhook authorities", "payments"];
    assert.deepEqual(
      without.flatMap(of).map(({ result }) => result),
      ["warning", "warning", "warning", "ok", "ok", "warning"],
    );
  });

  test("warns of receipts without an issuer once payments are live", async () => {
    const stripe = { ...processor(), STRIPE_SECRET_KEY: "sk_live_x" };
    const named = join(folder.path, "billing.yaml");
    const shipped = readFileSync(new URL("../../../data/billing.yaml", import.meta.url), "utf8");
    writeFileSync(
      named,
      shipped.replace('name: ""', "name: Elm Signing LLC").replace("address: []", "address: [1 Elm St]"),
    );
    const results = [];
    for (const env of [{}, stripe, { ...stripe, BILLING: named }, { BILLING: "/none.yaml" }])
      results.push((await doctor(env)).of("receipts")[0]?.result);
    assert.deepEqual(results, ["ok", "warning", "ok", "failed"]);
  });

  test("names the events that the payment processor does not send to this service", async () => {
    const base = "https://sign.elm-title.example";
    const url = `${base}/api/payments/stripe/webhook`;
    const events = async () => (await doctor({ ...processor(), BASE_URL: base })).of("payment events")[0];
    assert.equal((await doctor({})).of("payment events")[0]?.result, "ok");
    const none = await events();
    assert.equal(none?.result, "warning");
    assert.match(none?.detail ?? "", /no enabled endpoint https:\/\/sign\.elm-title\.example/);

    const endpoint = (to: string, types: readonly string[], status: "enabled" | "disabled" = "enabled") =>
      stripe.webhookEndpoints.push({ url: to, status, enabled_events: [...types] });
    // Neither another installation's endpoint nor a disabled endpoint is counted.
    endpoint("https://other.example/api/payments/stripe/webhook", ["*"]);
    endpoint(url, ["*"], "disabled");
    assert.equal((await events())?.result, "warning");
    const [first = "", second = "", ...rest] = neededEvents;
    endpoint(`${url}/`, rest);
    const missing = await events();
    assert.equal(missing?.result, "failed");
    assert.ok(missing?.detail.includes(`lacks ${first}, ${second}: enable them there`), missing?.detail);
    // Two endpoints with the same URL may together send all required events.
    endpoint(url, [first, second, "customer.created"]);
    assert.equal((await events())?.result, "ok");
    stripe.webhookEndpoints.splice(0, stripe.webhookEndpoints.length);
    endpoint(url, ["*"]);
    assert.equal((await events())?.result, "ok");
  });

  test("warns when the payment processor does not let the key read which events it sends", async () => {
    stripe.fail({ status: 403, message: "The provided key does not have the required permissions." });
    const found = (await doctor(processor())).of("payment events")[0];
    assert.equal(found?.result, "warning");
    assert.match(found?.detail ?? "", /required permissions/);
  });

  test("fails for a key of an account that was replaced, unless a setting names the account", async () => {
    const running = await openHarness();
    after(() => running.close());
    const account = async (more: Record<string, string> = {}) => {
      const env = { DATA_DIR: running.service.dataDir, ...processor(), STRIPE_SECRET_KEY: "sk_live_double", ...more };
      const [found] = (await doctor(env)).of("payment account");
      return [found?.result, found?.detail ?? ""] as const;
    };
    assert.deepEqual(
      await account(),
      ["ok", `${stripe.account} live`],
      "an account that the service has not noticed yet",
    );
    const { db } = running;
    await db.query(sql`INSERT INTO processor_accounts (account) VALUES (${`${stripe.account} test`})`);
    assert.equal((await account())[0], "ok", "a live key after one of the test mode");
    await db.query(sql`INSERT INTO processor_accounts (account, since) VALUES (${`${stripe.account} live`}, now())`);
    assert.equal((await account())[0], "ok");
    const [state, left] = await account({ STRIPE_ACCOUNT_AGAIN: `${stripe.account} live` });
    assert.equal(state, "warning");
    assert.match(left, new RegExp(`^${stripe.account} live, and STRIPE_ACCOUNT_AGAIN is still set: remove it`));
    const testKey = { STRIPE_SECRET_KEY: "sk_test_double" };
    assert.equal((await account(testKey))[0], "failed", "the test mode after a live key");
    assert.equal((await account({ ...testKey, STRIPE_ACCOUNT_AGAIN: `${stripe.account} test` }))[0], "ok");
    await db.query(sql`INSERT INTO processor_accounts (account, since) VALUES ('acct_other live', now())`);
    const [result, detail] = await account();
    assert.equal(result, "failed");
    assert.match(detail, /and another one is in use, so nothing new is charged there/);
    assert.equal((await account({ STRIPE_ACCOUNT_AGAIN: `${stripe.account} live` }))[0], "ok");
    assert.equal((await account({ STRIPE_ACCOUNT_AGAIN: "acct_other live" }))[0], "failed");
    const restricted = { STRIPE_SECRET_KEY: "rk_live_double", STRIPE_ACCOUNT_AGAIN: `${stripe.account} live` };
    const [unknown, why] = await account(restricted);
    assert.equal(unknown, "warning");
    assert.match(why, /may not read its account.*, and STRIPE_ACCOUNT_AGAIN has no effect/);
    const [refused, way] = await account({ STRIPE_SECRET_KEY: "rk_test_double" });
    assert.equal(refused, "failed", "the service takes no payments with this key");
    assert.match(way, /of the test mode and may not read its account, .*: set a live key, or let this key read/);
    for (const wrong of ["other live", stripe.account, `${stripe.account} sandbox`]) {
      const [settings] = (await doctor({ ...processor(), STRIPE_ACCOUNT_AGAIN: wrong })).of("settings");
      assert.match(settings?.detail ?? "", /STRIPE_ACCOUNT_AGAIN must be an account’s id and its mode/);
    }
  });

  test("the page for operators lists exactly the events that are needed", () => {
    const page = readFileSync(new URL("../../../../docs/operating.md", import.meta.url), "utf8");
    const [, list = ""] = /It needs (`checkout\.session.*?)\. A restricted key/.exec(page) ?? [];
    let prefix = "";
    const shown = list.split(", ").map((each) => {
      const type = each.replaceAll("`", "");
      if (!type.startsWith(".")) prefix = type.slice(0, type.lastIndexOf("."));
      return type.startsWith(".") ? prefix + type : type;
    });
    assert.deepEqual(shown.sort(), [...neededEvents].sort());
  });
});
