import assert from "node:assert/strict";
import { after, test } from "node:test";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { askForLink, newMember, postForm } from "./signed-in-member.ts";

const folder = temporaryFolder();

let service = await startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" });
after(() => service.stop());

async function travel(seconds: number): Promise<void> {
  await service.stop();
  service = await service.restart({ NODE_ENV: "test", TIME_TRAVEL: String(seconds) });
}

const minute = 60;
const day = 24 * 60 * minute;

test("a link is valid for 10 minutes and a session for 14 days, on any node, and expired ones are deleted", async () => {
  const { key } = await newPartner(service);
  const { headers } = await newMember(service, "stays@acme.example", key);
  const late = await askForLink(service, "late@acme.example");
  const early = await askForLink(service, "early@acme.example");
  const use = async ({ path, browser }: typeof late) =>
    (await postForm(service.baseUrl + path, {}, { Cookie: browser })).status;
  const me = async () => (await fetch(`${service.baseUrl}/api/partner/me`, { headers })).status;

  await travel(8 * minute);
  assert.equal(await use(early), 303);
  await travel(10 * minute);
  assert.equal(await use(late), 404);
  // A session stays valid if it is used at least every three days.
  for (const hours of [1, 70, 140, 210, 280]) {
    await travel(hours * 60 * minute);
    assert.equal(await me(), 200, `after ${hours} hours`);
  }
  await travel(14 * day - 10 * minute);
  assert.equal(await me(), 200);
  await travel(14 * day);
  assert.equal(await me(), 401);
});
