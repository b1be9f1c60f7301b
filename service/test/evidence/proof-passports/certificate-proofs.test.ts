import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { sealEntry, verifyLogProof } from "@signsealship/evidence/log";
import { startCalendar } from "@signsealship/testing/doubles/calendar";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { anchorLogs, digestOfOts } from "../transparency-log/anchor-logs.ts";
import { bytesOf, type Caller, seal } from "./seal-document.ts";

const harness = await forTests(openHarness({}));
const { service } = harness;
const firm = async () => ({ ...(await newPartner(service, { live: true })), baseUrl: service.baseUrl });
const [acme, stranger] = [await firm(), await firm()];
const { passportId, verifyCode } = await seal(acme, makePdf({ text: "Deed of trust" }));

const get = (path: string, caller?: Caller): Promise<Response> =>
  fetch(service.baseUrl + path, caller ? { headers: caller.headers } : {});
const ofPublic = `/api/passport/verify/${verifyCode}/certificate`;
const ofOwner = `/api/passport/${passportId}/certificate`;

async function inclusion(certificate: Buffer, proof: Buffer): Promise<string | undefined> {
  const entry = sealEntry(createHash("sha256").update(certificate).digest("hex"));
  const claims = await verifyLogProof({ proof, entry, environment: "live", logs: [] });
  return claims.find(({ name }) => name === "log_inclusion")?.state;
}

/** Waits for the proof. Until the log includes the seal, the response is 503. */
const proofOf = async (path: string, caller?: Caller): Promise<Buffer> =>
  until(async () => {
    const answer = await get(`${path}/tlog-proof`, caller);
    if (answer.status !== 200) assert.equal(answer.status, 503);
    return answer.status === 200 ? bytesOf(answer) : null;
  });

test("each of the two certificates has a log proof of its own", async () => {
  const [common, own] = [await bytesOf(await get(ofPublic)), await bytesOf(await get(ofOwner, acme))];
  const [commonProof, ownProof] = [await proofOf(ofPublic), await proofOf(ofOwner, acme)];
  assert.equal(await inclusion(common, commonProof), "holds");
  assert.equal(await inclusion(own, ownProof), "holds");
  assert.equal(await inclusion(common, ownProof), "fails");
});

test("refuses the .ots with 409 until the calendars have a root that covers the certificate", async () => {
  assert.equal((await get(`${ofPublic}/ots`)).status, 409);
  assert.equal((await get(`${ofOwner}/ots`, acme)).status, 409);
});

test("the .ots of each certificate is about that certificate, once calendars have a root of the log", async () => {
  const calendar = await startCalendar();
  try {
    const anchor = () => anchorLogs(harness, calendar.url);
    for (const [path, caller] of [[ofPublic], [ofOwner, acme]] as const) {
      const certificate = await bytesOf(await get(path, caller));
      const { digest } = await digestOfOts(() => get(`${path}/ots`, caller), anchor);
      assert.equal(digest, createHash("sha256").update(certificate).digest("hex"));
    }
    assert.equal((await get(`${ofOwner}/ots`, stranger)).status, 404);
  } finally {
    await calendar.close();
  }
});

test("a passport that the caller may not see answers as an unknown one does", async () => {
  for (const form of ["tlog-proof", "ots"]) {
    assert.equal((await get(`${ofOwner}/${form}`, stranger)).status, 404);
    assert.equal((await get(`${ofOwner}/${form}`)).status, 401);
    assert.equal((await get(`/api/passport/no-id/certificate/${form}`, acme)).status, 404);
    assert.equal((await get(`/api/passport/verify/${"a".repeat(26)}/certificate/${form}`)).status, 404);
  }
});
