import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";

const folder = temporaryFolder();
const blobs = join(folder.path, "blobs");

const nobody = `http://127.0.0.1:${await freePort()}`;
const service = await forTests(
  startService({
    DATA_DIR: folder.path,
    BLOB_URL: `file:${blobs}`,
    TSA_URLS: `${nobody}/tsa`,
    OTS_CALENDARS: nobody,
    RATE_LIMITS: "off",
    LOG_LEVEL: "silent",
  }),
);
const { headers } = await newPartner(service);
const call = (path: string, init: RequestInit = {}) => fetch(service.baseUrl + path, { headers, ...init });
const place = () => call("/api/partner/orders", { method: "POST", body: orderForm(minimal, makePdf()) });
const placed = await place();
const { orderCode } = (await placed.json()) as { orderCode: string };

test("without a time-stamping authority and a calendar a seal is made, and counted", async () => {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(makePdf())], { type: "application/pdf" }), "deed.pdf");
  const sealed = await call("/api/passport/seal", { method: "POST", body: form });
  assert.equal(sealed.status, 200, await sealed.clone().text());
  const metrics = await (await call("/metrics")).text();
  assert.match(metrics, /^seals_without_time_stamp_total 1$/m);
  assert.match(metrics, /^seals_without_anchor_total 1$/m);
  assert.match(metrics, /^dependency_up\{name="time_stamps"\} 0$/m);
});

test("without the blob store documents get a 503, lists and keys still work, and the node is degraded", async () => {
  renameSync(blobs, `${blobs}.away`);
  writeFileSync(blobs, "");
  chmodSync(blobs, 0o400);
  try {
    const refused = await place();
    assert.equal(refused.status, 503);
    assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    for (const path of ["/api/partner/orders", "/api/partner/me", `/api/partner/orders/${orderCode}`])
      assert.equal((await call(path)).status, 200, path);
    const ready = await until(async () => {
      const answer = await call("/readyz");
      const body = (await answer.json()) as { status: string; checks: Record<string, string> };
      return body.status === "ok" ? null : { code: answer.status, ...body };
    });
    assert.deepEqual([ready.code, ready.status, ready.checks["blobs"]], [200, "degraded", "failed"]);
  } finally {
    renameSync(`${blobs}`, `${blobs}.file`);
    renameSync(`${blobs}.away`, blobs);
  }
  assert.equal((await place()).status, 201);
});

test("without Redis requests are still counted and answered", needs("redis"), async () => {
  const port = await freePort();
  const redis = spawn("redis-server", ["--port", String(port), "--save", "", "--appendonly", "no"], {
    stdio: "ignore",
  });
  const limited = await startService({
    DATA_DIR: folder.path,
    REDIS_URL: `redis://127.0.0.1:${port}`,
    LOG_LEVEL: "silent",
  });
  const up = async () =>
    /^dependency_up\{name="redis"\} (\d)$/m.exec(await (await fetch(`${limited.baseUrl}/metrics`)).text())?.[1];
  await until(async () => (await up()) === "1");
  redis.kill("SIGKILL");
  await once(redis, "exit");
  await until(async () => (await up()) === "0");
  for (let n = 0; n < 5; n++)
    assert.equal((await fetch(`${limited.baseUrl}/api/partner/orders`, { headers })).status, 200);
  await limited.stop();
});
