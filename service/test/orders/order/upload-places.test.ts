import assert from "node:assert/strict";
import { after, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { beginUpload, pieces, type RawUpload } from "../../kernel/http/uploads/raw-upload.ts";

const folder = temporaryFolder();
const uploads: RawUpload[] = [];

after(() => {
  for (const upload of uploads) upload.hangUp();
});
const service = await forTests(startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" }));

/** Uploads of one firm that declare many bytes and send only the first ones. */
async function hold(headers: Record<string, string>, sizes: number[]): Promise<RawUpload[]> {
  const held: RawUpload[] = [];
  for (const size of sizes) {
    const upload = await beginUpload(`${service.baseUrl}/api/partner/orders`, { ...headers, "Content-Length": size });
    uploads.push(upload);
    held.push(upload);
    await upload.send(pieces("document", Buffer.from("%PDF-1.7\n")).head);
  }
  return held;
}

const order = (headers: Record<string, string>, signal: AbortSignal) =>
  fetch(`${service.baseUrl}/api/partner/orders`, {
    method: "POST",
    headers,
    signal,
    body: orderForm(minimal, makePdf()),
  });

test("slow uploads of firms without live access, however many, delay no firm with live access", async () => {
  const live = await newPartner(service, { live: true, tier: "PartnerLink" });
  const free = await Promise.all(Array.from({ length: 6 }, () => newPartner(service)));
  for (const { headers } of free) await hold(headers, [35_000_000, 35_000_000, 2_000_000]);
  const begun = performance.now();
  assert.equal((await order(live.headers, AbortSignal.timeout(20_000))).status, 201);
  assert.ok(performance.now() - begun < 10_000);
});

test("a limited number of uploads of a firm without live access wait; the next gets a 503 with the time to retry", async () => {
  const { headers } = await newPartner(service);
  const waiting = await hold(headers, Array(17).fill(35_000_000));
  await until(() => waiting.some((upload) => upload.received().startsWith("HTTP/1.1 503 ")));
  const refused = await order(headers, AbortSignal.timeout(20_000));
  assert.equal(refused.status, 503);
  assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  assert.deepEqual(await refused.json(), {
    error: "Too many of your uploads wait for their turn. Try again in a moment.",
  });
});
