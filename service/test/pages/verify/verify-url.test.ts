import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner } from "@signsealship/testing/service";
import { seal } from "../../evidence/proof-passports/seal-document.ts";

const browsers = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const nobody = "a".repeat(26);

const harness = await forTests(openHarness());
const owner = { ...(await newPartner(harness.service, { live: true })), baseUrl: harness.service.baseUrl };

const get = (path: string, accept?: string) =>
  fetch(new URL(path, harness.service.baseUrl), {
    redirect: "manual",
    headers: accept === undefined ? {} : { accept },
  });

test("the verifyUrl of a passport is its page for a browser, and JSON for callers that do not prefer a page", async () => {
  const { verifyCode } = await seal(owner, makePdf());
  const path = `/api/passport/verify/${verifyCode}`;
  const led = await get(path, browsers);
  assert.deepEqual([led.status, led.headers.get("location")], [303, `/verify/${verifyCode}`]);
  assert.equal(led.headers.get("vary"), "Accept");
  assert.equal(led.headers.get("cache-control"), "no-store");
  assert.match(await (await get(led.headers.get("location") ?? "", browsers)).text(), /<h1>/);
  for (const accept of [undefined, "*/*", "application/json", "text/html;q=0.8, application/json", "text/html, */*"]) {
    const answer = await get(path, accept);
    assert.deepEqual([answer.status, answer.headers.get("vary")], [200, "Accept"], accept);
    assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
    assert.equal(((await answer.json()) as { verifyCode: string }).verifyCode, verifyCode);
  }
});

test("the check of files can be saved as one file that contains the service's own certificates, and contacts nobody", async () => {
  assert.match(await (await get("/verify", browsers)).text(), /href="\/verify\/offline"/);
  const saved = await get("/verify/offline", browsers);
  assert.equal(saved.status, 200);
  assert.equal(saved.headers.get("content-disposition"), 'attachment; filename="verifier.html"');
  const page = await saved.text();
  assert.ok(page.includes('<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;;'));
  assert.deepEqual(page.match(/(?:src|href)="(?:https?:|\/)[^"]*"/g), null);
  const trust = await (await get("/seal/trust.json")).text();
  const [certificate = ""] = /MII[\w+/]{60}/.exec(trust) ?? [];
  assert.notEqual(certificate, "");
  assert.ok(page.includes(certificate));
  assert.match(page, /as they were when it was saved\. Whether one was retired since/);
});

test("its files are served as files to browsers, too", async () => {
  const { verifyCode } = await seal(owner, makePdf());
  for (const file of ["document", "evidence"])
    assert.equal((await get(`/api/passport/verify/${verifyCode}/${file}`, browsers)).status, 200, file);
});

test("closing certificates and signings redirect browsers to their pages, and an unknown code is the same in both forms", async () => {
  for (const [api, page] of [
    ["/api/passport/verify", "/verify"],
    ["/api/verify/room", "/v/room"],
    ["/api/verify/envelope", "/v/envelope"],
  ] as const) {
    for (const code of [nobody, "x", "a%2Fb"]) {
      const led = await get(`${api}/${code}`, browsers);
      assert.deepEqual([led.status, led.headers.get("location")], [303, `${page}/${code}`]);
      assert.equal((await get(`${page}/${code}`, browsers)).status, 404);
      const answer = await get(`${api}/${code}`, "application/json");
      assert.deepEqual([answer.status, await answer.json()], [404, { verdict: "unknown" }]);
    }
  }
});
