import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { newMember, postForm } from "./signed-in-member.ts";

const folder = temporaryFolder();

const service = await forTests(startService({ DATA_DIR: folder.path, PLAYBOOKS: "on" }));

const me = (headers: Record<string, string>) => fetch(`${service.baseUrl}/api/partner/me`, { headers });

async function statuses(count: number, ask: (i: number) => Promise<Response>): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i += 20)
    found.push(
      ...(await Promise.all(Array.from({ length: Math.min(20, count - i) }, (_, j) => ask(i + j)))).map(
        ({ status }) => status,
      ),
    );
  return found;
}

test("the portal counts by session: a used-up session does not affect another, nor keys of the same address", async () => {
  const { key, headers: byKey } = await newPartner(service);
  const [one, other] = [
    await newMember(service, "a@acme.example", key),
    await newMember(service, "b@acme.example", key),
  ];
  // One of the session's 120 requests was already used above, to link the member.
  const found = await statuses(120, () => me(one.headers));
  assert.deepEqual(found.toSorted(), [...Array(119).fill(200), 429]);
  const refused = await me({ ...one.headers, ...byKey });
  assert.equal(refused.status, 429, "a key beside the cookie does not change who is counted");
  assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/);
  assert.equal((await me(other.headers)).status, 200);
  assert.equal((await me(byKey)).status, 200);
  const page = await fetch(`${service.baseUrl}/dashboard`, { headers: { ...one.headers, Accept: "text/html" } });
  assert.equal(page.status, 429, "the dashboard counts with it");
});

test("an invented cookie counts for its sender's address", async () => {
  const invented = (i: number) => ({ Cookie: `__Host-session=${"abcdefghijklmnopqrstuvwxyz"[i % 26]?.repeat(52)}` });
  const found = await statuses(140, (i) => me(invented(i)));
  assert.ok(found.filter((status) => status === 429).length >= 20);
});

test("a session's runs of playbooks count for its firm, whichever member starts them", async () => {
  const { key } = await newPartner(service);
  const members = [await newMember(service, "c@acme.example", key), await newMember(service, "d@acme.example", key)];
  const found = await statuses(62, (i) =>
    postForm(
      `${service.baseUrl}/api/partner/playbooks/approval_gate/run`,
      { kind: "k", subjectId: "s" },
      members[i % 2]?.headers ?? {},
    ),
  );
  assert.equal(found.filter((status) => status === 200).length, 60);
  assert.equal(found.filter((status) => status === 429).length, 2);
});

test("one address can request ten links in a quarter of an hour", async () => {
  const ask = () => postForm(`${service.baseUrl}/sign-in`, { email: "e@acme.example" });
  const found = await statuses(12, ask);
  // The sign-ins of this file's four members have used four of the ten links.
  assert.equal(found.filter((status) => status === 200).length, 6);
  assert.equal(found.filter((status) => status === 429).length, 6);
});
