import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type RecaptchaMode, startRecaptcha } from "@signsealship/testing/doubles/recaptcha";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import { requestAccess } from "../../../src/firms/access-requests/request.ts";
import {
  type BotVerdict,
  recaptchaAction,
  recaptchaScorer,
} from "../../../src/firms/access-requests/screening/recaptcha.ts";
import { readScreeningRules } from "../../../src/firms/access-requests/screening/rules-file.ts";
import { readConfig } from "../../../src/kernel/config/config.ts";
import { openRowMac } from "../../../src/kernel/platform/row-mac.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";

const hostname = "desk.harbor-title.com";
const person = { hostname, action: recaptchaAction };
const empty = { role: null, expectedVolume: null, useCase: null };
let warnings: string[] = [];

const double = await forTests(startRecaptcha());
beforeEach(() => {
  Object.assign(double, { score: 0.9, mode: "proper" });
  double.asked.length = 0;
  warnings = [];
});

type Changes = { secret?: string; apiBase?: string; timeoutMs?: number };

function ask(token: string, { timeoutMs = 10_000, ...changes }: Changes = {}): Promise<BotVerdict> {
  const { siteKey, secret, apiBase } = double;
  const log = { warn: (fields: object, message?: string) => warnings.push(`${JSON.stringify(fields)} ${message}`) };
  const settings = { siteKey, secret, apiBase, ...changes };
  return recaptchaScorer({ settings, hostname, minScore: 0.5, fetch, log, timeoutMs })(token, "203.0.113.9");
}

test("a token with a high score counts as a person; secret, token and address are sent as a form", async () => {
  const token = double.newToken(person);
  assert.equal(await ask(token), "person");
  assert.deepEqual(Object.fromEntries(double.asked[0] ?? []), {
    secret: double.secret,
    response: token,
    remoteip: "203.0.113.9",
  });
  assert.deepEqual(warnings, []);
});

test("the lowest accepted score counts as a person, and anything below it as a bot", async () => {
  const verdicts: Record<number, BotVerdict> = { 1: "person", 0.5: "person", 0.4: "bot", 0: "bot" };
  for (const [score, verdict] of Object.entries(verdicts)) {
    double.score = Number(score);
    assert.equal(await ask(double.newToken(person)), verdict, score);
  }
});

test("a token of another action or host, and an invented, empty or used one, counts as a bot", async () => {
  assert.equal(await ask(double.newToken({ ...person, action: "login" })), "bot");
  assert.equal(await ask(double.newToken({ ...person, hostname: "harbor-title.com" })), "bot");
  assert.equal(await ask(double.newToken({ ...person, hostname: `${hostname}.evil.example` })), "bot");
  assert.equal(await ask("made-up"), "bot");
  assert.equal(await ask(""), "bot");
  const token = double.newToken(person);
  assert.equal(await ask(token), "person");
  assert.equal(await ask(token), "bot");
  assert.deepEqual(warnings, []);
});

test("the operator learns that the scorer refuses the secret", async () => {
  assert.equal(await ask(double.newToken(person), { secret: "of another site" }), "bot");
  assert.match(warnings[0] ?? "", /invalid-input-secret.*refuses the settings/);
  assert.doesNotMatch(warnings[0] ?? "", /of another site/);
});

test("a missing, late, unrelated, broken or endless answer never counts against the requester", async () => {
  const modes: RecaptchaMode[] = [
    "no-score",
    "junk",
    "not-an-object",
    "oversize",
    "server-error",
    "redirect",
    "hang-up",
  ];
  for (const mode of modes) {
    double.mode = mode;
    assert.equal(await ask(double.newToken(person)), "unscored", mode);
  }
  for (const mode of ["half", "slow"] as const) {
    double.mode = mode;
    assert.equal(await ask(double.newToken(person), { timeoutMs: 50 }), "unscored", mode);
  }
  const nobody = `http://127.0.0.1:${await freePort()}/recaptcha`;
  assert.equal(await ask(double.newToken(person), { apiBase: nobody }), "unscored");
  assert.equal(warnings.length, modes.length + 3);
  for (const line of warnings) {
    assert.match(line, /no score from reCAPTCHA/);
    assert.ok(!line.includes(double.secret));
  }
});

test("the scorer gets only the token, before a transaction is opened", async () => {
  const order: string[] = [];
  const refuse = () => Promise.reject(new Error("no database here"));
  const transaction = () => {
    order.push("transaction");
    return refuse();
  };
  const db = {
    query: refuse,
    listen: refuse,
    checkStatements: refuse,
    checkNotifications: refuse,
    connections: () => ({ inUse: 0, idle: 0, waiting: 0, max: 0 }),
    useSealedTexts: () => {},
    close: refuse,
    transaction,
    useRowMac() {},
  };
  const rules = readScreeningRules(fileURLToPath(new URL("../../../data/screening.yaml", import.meta.url)));
  const scoreBot = async (): Promise<BotVerdict> => {
    await new Promise((resolve) => setImmediate(resolve));
    order.push("scorer");
    return "bot";
  };
  const secrets = secretBytes(Buffer.alloc(32));
  const request = { firmName: "Harbor", contactName: "Dana", workEmail: "dana@harbor-title.com", ...empty };
  const ask = (recaptchaToken: string | null) =>
    requestAccess(
      { db, clock: () => new Date(0), secrets, rowMac: openRowMac(secrets), rules, scoreBot, trialsPerDomain: 1 },
      { ...request, recaptchaToken },
      "::1",
    );
  await assert.rejects(ask("token"), /no database here/);
  await assert.rejects(ask(null), /no database here/);
  assert.deepEqual(order, ["scorer", "transaction", "transaction"]);
});

test("both keys are set or neither; an address that can't be in a page's policy prevents the start", () => {
  const read = (env: Record<string, string>) => readConfig(env, "/", "/").recaptcha;
  const keys = { RECAPTCHA_SITE_KEY: "6Lc_site-key", RECAPTCHA_SECRET: "6Lc_secret" };
  assert.equal(read({}), null);
  assert.deepEqual(read(keys), {
    siteKey: "6Lc_site-key",
    secret: "6Lc_secret",
    apiBase: "https://www.google.com/recaptcha",
  });
  assert.equal(
    read({ ...keys, RECAPTCHA_API_BASE: "http://127.0.0.1:9/recaptcha/" })?.apiBase,
    "http://127.0.0.1:9/recaptcha",
  );
  const refused: [Record<string, string>, RegExp][] = [
    [{ RECAPTCHA_SITE_KEY: "6Lc" }, /^RECAPTCHA_SECRET must be set when RECAPTCHA_SITE_KEY is$/],
    [{ RECAPTCHA_SECRET: "6Lc" }, /^RECAPTCHA_SITE_KEY must be set when RECAPTCHA_SECRET is$/],
    [{ ...keys, RECAPTCHA_SITE_KEY: "6L c" }, /^RECAPTCHA_SITE_KEY must be/],
    [{ ...keys, RECAPTCHA_API_BASE: "https://a.example; script-src *" }, /^RECAPTCHA_API_BASE must be/],
    [{ ...keys, RECAPTCHA_API_BASE: "ftp://a.example" }, /^RECAPTCHA_API_BASE must be/],
  ];
  for (const [env, message] of refused) assert.throws(() => read(env), { name: "StartupError", message });
});
