import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { fileForm, postSeal } from "./seal-document.ts";

const folder = temporaryFolder();

const service = await forTests(startService({ DATA_DIR: folder.path }));

test("seals and public verification share 12 requests a minute per address; fetching counts by key", async () => {
  const { headers } = await newPartner(service);
  const caller = { baseUrl: service.baseUrl, headers };
  const paths = ["", "/document", "/evidence", "/else"];
  const statuses: number[] = [];
  for (let n = 0; n < 13; n++) {
    const response =
      n < 5
        ? await postSeal(caller, fileForm(makePdf()))
        : await fetch(`${service.baseUrl}/api/passport/verify/${"a".repeat(26)}${paths[n % 4]}`);
    statuses.push(response.status);
    assert.match(response.headers.get("ratelimit-policy") ?? "", /^"public-write";q=12;w=60$/);
    if (n < 12) continue;
    assert.match(await response.text(), /^\{"error":"Rate limit exceeded\. Try again in \d+ seconds\."\}$/);
    assert.ok(Number(response.headers.get("retry-after")) >= 1);
  }
  assert.deepEqual(statuses, [...Array(5).fill(200), ...Array(7).fill(404), 429]);
  assert.equal((await postSeal(caller, fileForm(makePdf()))).status, 429);
  const own = await fetch(`${service.baseUrl}/api/passport/${"0".repeat(36)}`, { headers });
  assert.equal(own.status, 404);
  assert.match(own.headers.get("ratelimit-policy") ?? "", /^"partner-write"/);
});
