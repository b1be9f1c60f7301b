import assert from "node:assert/strict";
import { test } from "node:test";
import type { FastifyRequest } from "fastify";
import { refuseCrossSite } from "../../../src/kernel/http/authentication.ts";

const own = "https://sign.example";

function isRefused(
  headers: Record<string, string>,
  { method = "POST", host = "sign.example", origin = own } = {},
): boolean {
  try {
    refuseCrossSite({ method, host, headers } as unknown as FastifyRequest, origin);
    return false;
  } catch {
    return true;
  }
}

test("a write from our own origin, from the requested host, or without a browser is accepted", () => {
  assert.ok(!isRefused({ origin: own }));
  assert.ok(!isRefused({ origin: own }, { host: "10.0.0.7:8080" }));
  assert.ok(!isRefused({ origin: "https://inside.example:8443" }, { host: "inside.example:8443" }));
  assert.ok(
    !isRefused({ origin: "http://127.0.0.1:8080" }, { host: "127.0.0.1:8080", origin: "http://localhost:8080" }),
  );
  assert.ok(!isRefused({}));
  assert.ok(!isRefused({ "sec-fetch-site": "same-origin" }));
  assert.ok(!isRefused({ "sec-fetch-site": "none" }));
});

test("a write from another origin, with a less secure scheme or an unknown one is refused", () => {
  for (const origin of [
    "https://evil.example",
    "http://sign.example",
    "ftp://sign.example",
    "null",
    "",
    "sign.example",
    "https://sign.example.evil.example",
  ])
    assert.ok(isRefused({ origin }), origin);
  for (const site of ["cross-site", "same-site"]) assert.ok(isRefused({ "sec-fetch-site": site }), site);
});

test("a read is always accepted", () => {
  for (const method of ["GET", "HEAD"]) assert.ok(!isRefused({ origin: "https://evil.example" }, { method }));
});
