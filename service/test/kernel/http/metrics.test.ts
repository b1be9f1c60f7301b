import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { startService, temporaryFolder } from "@signsealship/testing/service";
import { readConfig } from "../../../src/kernel/config/config.ts";

const folder = temporaryFolder();
const token = "a-token-of-24-characters";

const service = await forTests(
  startService({
    DATA_DIR: folder.path,
    HOST: "0.0.0.0",
    METRICS_TOKEN: token,
    TRUST_PROXY: "127.0.0.1",
  }),
);

const ask = async (headers: Record<string, string> = {}, base = service.baseUrl) =>
  fetch(`${base}/metrics`, { headers });

test("this machine can read the metrics, and a proxy only with the token", async () => {
  assert.equal((await ask()).status, 200);
  for (const name of ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"]) {
    const forwarded = { [name]: "127.0.0.1" };
    const refused = await ask(forwarded);
    assert.equal(refused.status, 404, name);
    assert.doesNotMatch(await refused.text(), /jobs_total/);
    const opened = await ask({ ...forwarded, Authorization: `Bearer ${token}` });
    assert.deepEqual([opened.status, (await opened.text()).includes("# HELP")], [200, true]);
  }
  const proxied = { "X-Forwarded-For": "203.0.113.9" };
  for (const wrong of [`Bearer ${token}x`, `Bearer ${token.slice(1)}`, token, `Basic ${token}`, "Bearer", "Bearer  "])
    assert.equal((await ask({ ...proxied, Authorization: wrong })).status, 404, wrong);
});

test("the process, the event loop and the requests each appear once", async () => {
  const text = await (await ask()).text();
  const helped: string[] = text.match(/^# HELP \S+/gm) ?? [];
  assert.equal(new Set(helped).size, helped.length);
  for (const name of ["process_cpu_seconds_total", "nodejs_eventloop_lag_p99_seconds", "http_request_duration_seconds"])
    assert.ok(helped.includes(`# HELP ${name}`), name);
});

test("a refusal looks like an unknown path", async () => {
  const plain = async (path: string) => {
    const answer = await fetch(service.baseUrl + path, {
      headers: { "X-Real-IP": "203.0.113.9", Accept: "application/json" },
    });
    return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
  };
  assert.deepEqual(await plain("/metrics"), await plain("/metricz"));
});

const outer = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === "IPv4" && !each.internal)?.address;

test("another machine needs the token", {
  skip: outer === undefined && "this machine has no other address",
}, async () => {
  const base = `http://${outer}:${new URL(service.baseUrl).port}`;
  assert.equal((await ask({}, base)).status, 404);
  assert.equal((await ask({ Authorization: `Bearer ${token}` }, base)).status, 200);
});

test("a token that is short or has spaces prevents the start", () => {
  for (const bad of ["short", "has spaces in its middle", "x".repeat(15), "ü".repeat(20)])
    assert.throws(() => readConfig({ METRICS_TOKEN: bad }, "/", "/"), /METRICS_TOKEN must be 16 or more printable/);
});
