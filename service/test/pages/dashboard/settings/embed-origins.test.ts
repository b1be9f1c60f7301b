import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openMembersService } from "../../../firms/members/members-service.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());
const path = "/dashboard/settings";

test("an owner adds and removes a site that may show signing pages; a member sees them, and can't change them", async () => {
  const { key } = await running.newPartner();
  const { baseUrl } = running.service;
  const owner = (await newMember(running.service, running.somebody(), key)).headers;
  const member = (await newMember(running.service, running.somebody(), key)).headers;
  const page = async (headers: Record<string, string>) => (await running.call(path, { headers })).body as string;
  const add = (origin: string, headers = owner) => postForm(`${baseUrl}${path}/origins`, { origin }, headers);

  const added = await add("https://App.example.com");
  assert.deepEqual([added.status, /done=origin-added/.test(added.headers.get("location") ?? "")], [303, true]);
  assert.match(await page(owner), /<code>https:\/\/app\.example\.com<\/code>/);
  const shown = await page(member);
  assert.match(shown, /<code>https:\/\/app\.example\.com<\/code>/);
  assert.doesNotMatch(shown, /Add the site/);

  const refused = await add("https://app.example.com/sign");
  assert.equal(refused.status, 400);
  const text = await refused.text();
  assert.match(text, /without a path: https:\/\/app\.example\.com\/sign has more/);
  assert.match(text, /value="https:\/\/app\.example\.com\/sign"/);
  assert.equal((await add("https://two.example.com", member)).status, 403);

  const [, remove = ""] = /action="(\/dashboard\/settings\/origins\/[0-9a-f-]+\/remove)"/.exec(await page(owner)) ?? [];
  assert.equal((await postForm(baseUrl + remove, {}, member)).status, 403);
  assert.equal((await postForm(baseUrl + remove, {}, owner)).status, 303);
  assert.doesNotMatch(await page(owner), /app\.example\.com<\/code>/);
});
