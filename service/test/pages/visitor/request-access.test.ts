import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { startService, temporaryFolder } from "@signsealship/testing/service";
import type { ListedRequest } from "../../../src/firms/access-requests/access-requests.ts";

const folder = temporaryFolder();

const service = await forTests(startService({ DATA_DIR: folder.path }));

const firm = { firmName: "Harbor Title", contactName: "Dana", workEmail: "dana@harbor-title.com" };
const useCase = "We are a title company and want our closings notarized online\nbefore the deeds are recorded.";

const form = (body: Record<string, string>, accept = "text/html") =>
  fetch(`${service.baseUrl}/request-access`, {
    method: "POST",
    headers: { Accept: accept },
    body: new URLSearchParams(body),
    redirect: "manual",
  });
const api = (body: object) =>
  fetch(`${service.baseUrl}/api/partner/request`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
const page = () => fetch(`${service.baseUrl}/request-access`, { headers: { Accept: "text/html" } });

test("the page accepts a form and JSON alike, five times in an hour together, whatever was sent", async () => {
  const issued = await form({ ...firm, useCase, role: "", expectedVolume: "  about 40 " });
  assert.deepEqual([issued.status, issued.headers.get("location")], [303, "/request-access/issued"]);
  assert.match(issued.headers.get("ratelimit") ?? "", /^"partner-request";r=4;/);
  assert.equal((await api({})).status, 400);
  assert.equal((await form({})).status, 400);
  assert.equal((await api({ ...firm, workEmail: "dana@gmail.com", useCase })).status, 200);
  const pending = await form({ ...firm, workEmail: "dana@0-180.com", useCase });
  assert.deepEqual([pending.status, pending.headers.get("location")], [303, "/request-access/pending"]);

  const busy = await form({ ...firm, useCase });
  assert.equal(busy.status, 429);
  assert.ok(Number(busy.headers.get("retry-after")) > 3000);
  assert.match(await busy.text(), /<h1>One moment, please<\/h1>.*Wait \d\d minutes/);
  assert.equal((await api({ ...firm, useCase })).status, 429);
  const script = await form({ ...firm, useCase }, "*/*");
  assert.match(
    ((await script.json()) as { error: string }).error,
    /^Rate limit exceeded\. Try again in \d+ seconds\.$/,
  );
  assert.equal((await page()).status, 200);

  const { requests } = await service.cli<{ requests: ListedRequest[] }>("request", "list");
  const kept = requests.map(({ workEmail, status, reasons }) => [workEmail, status, ...reasons]);
  assert.deepEqual(kept.sort(), [
    ["dana@0-180.com", "pending", "listed_mail"],
    ["dana@gmail.com", "pending", "free_mail"],
    ["dana@harbor-title.com", "issued"],
  ]);
  const first = requests.find(({ status }) => status === "issued");
  assert.deepEqual([first?.role, first?.expectedVolume, first?.useCase], [null, "about 40", useCase]);
});

test("without a scorer the page has no script and allows none from elsewhere", async () => {
  const response = await page();
  assert.match(response.headers.get("content-security-policy") ?? "", /script-src 'self';.*form-action 'self'/);
  const text = await response.text();
  assert.doesNotMatch(text, /recaptcha/i);
  assert.deepEqual(text.match(/<script[^>]*src="[^"]*\/(\w+)\./g)?.length, 1, "that of every page");
  assert.match(text, /<script src="\/assets\/page\.\w+\.js"><\/script>/);
});
