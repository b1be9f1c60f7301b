import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../../../src/kernel/config/config.ts";
import { StartupError } from "../../../src/kernel/platform/errors.ts";

/** The error message for a setting. */
function refusalOf(env: Record<string, string>): string {
  try {
    readConfig(env, "/", "/");
  } catch (error) {
    assert.ok(error instanceof StartupError);
    return error.message;
  }
  throw new Error(`${JSON.stringify(env)} was accepted`);
}

test("a refused secret is not quoted", () => {
  const secrets = {
    DATABASE_URL: "mysql://u:hush@h/d",
    DATABASE_LISTEN_URL: "mysql://u:hush@h/d",
    REDIS_URL: "http://:hush@h",
    SMTP_URL: "http://u:hush@h",
    SEAL_KEY: "pkcs12:hush",
    SIGNER_CA_KEY: "pkcs12:hush",
    METRICS_TOKEN: "hush",
    LOG_KEY: "hush",
    WITNESS_KEY: "hush",
    SECRETS_KEY: "hush",
    SECRETS_KEYS_OLD: "file:a,hush",
  };
  for (const [name, value] of Object.entries(secrets)) {
    const message = refusalOf({ [name]: value });
    assert.ok(message.startsWith(`${name} must be `), message);
    assert.ok(!message.includes("hush"), message);
  }
});

test("the secrets of providers are not quoted", () => {
  for (const name of ["EASYPOST_API_KEY", "LOB_API_KEY", "TELNYX_API_KEY", "IDENTITY_API_KEY", "QUIZ_API_KEY"])
    assert.equal(refusalOf({ [name]: "hu sh" }), `${name} must be printable characters without spaces`);
  const livekit = { MEDIA: "livekit", LIVEKIT_URL: "wss://a.example.com", LIVEKIT_API_KEY: "key" };
  assert.equal(
    refusalOf({ ...livekit, LIVEKIT_API_SECRET: "hush" }),
    "LIVEKIT_API_SECRET must have at least 32 characters",
  );
});

test("a refused URL with a password is not quoted, and other refused values are", () => {
  for (const env of [
    { MEDIA: "livekit", LIVEKIT_URL: "wss://u:hush@a.example.com" },
    { STRIPE_API_BASE: "ftp://u:hush@a.example.com" },
    { TSA_URLS: "https://a.example.com,ftp://u:hush@b.example.com" },
  ])
    assert.doesNotMatch(refusalOf(env), /hush/);
  assert.match(refusalOf({ PORT: "eighty" }), /^PORT must be .*; it is 'eighty'$/);
  assert.match(refusalOf({ TSA_URLS: "ftp://a.example.com" }), /; it is 'ftp:\/\/a\.example\.com'$/);
  assert.match(refusalOf({ MAIL_FROM: "nobody" }), /; it is 'nobody'$/);
});
