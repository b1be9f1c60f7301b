import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { json, openMembersService } from "../../../firms/members/members-service.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());

const list = "/dashboard/webhooks";

test("forms for live webhooks are shown to people who may send them; others see whom to ask", async () => {
  const { call, service } = running;
  const { key, headers } = await running.newPartner({ live: true });
  const body = JSON.stringify({ url: "https://hooks.example.com/live", topics: ["order.created"] });
  const { id } = (await call("/api/partner/webhooks", { method: "POST", headers: { ...headers, ...json }, body })).body;
  const [owner, member] = [running.somebody(), running.somebody()];
  const asOwner = (await newMember(service, owner, key)).headers;
  const asMember = (await newMember(service, member, key)).headers;
  const shown = async (who: Record<string, string>, path: string) =>
    ((await call(path, { headers: who })).body as string).replace(/[\s\S]*<main/, "");

  assert.match(await shown(asOwner, list), /name="url"/);
  const ofOwner = await shown(asOwner, `${list}/${id}`);
  for (const form of [/\/rotate"/, /\/delete"/]) assert.match(ofOwner, form);

  assert.ok(
    ofOwner.includes("<li>An order was placed. <code>order.created</code></li>"),
    "what is sent is said in words",
  );

  const listed = await shown(asMember, list);
  assert.doesNotMatch(listed, /name="url"/);
  assert.match(listed, /hooks\.example\.com\/live/, "the list is there");
  const ofMember = await shown(asMember, `${list}/${id}`);
  for (const form of [/\/rotate"/, /\/delete"/]) assert.doesNotMatch(ofMember, form);
  assert.match(ofMember, /\/test"/, "a test may be sent");
  for (const page of [listed, ofMember]) {
    assert.match(page, /Only an owner of the firm with live access/);
    assert.ok(page.includes(`Ask <span class="breakable">${owner}</span>.`));
    assert.ok(!page.includes(member));
  }

  await postForm(`${service.baseUrl}/dashboard/environment`, { environment: "test" }, asMember);
  assert.match(await shown(asMember, list), /name="url"/, "in test every member may");
});
