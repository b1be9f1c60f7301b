import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, openCeremonyService, signBy } from "./ceremony-service.ts";

let running: Awaited<ReturnType<typeof openCeremonyService>>;
before(async () => {
  running = await openCeremonyService();
});
after(() => running.close());

const people = (...names: string[]) =>
  names.map((name) => ({ name, email: `${name.toLowerCase()}-${unique++}@example.com` }));
let unique = 1;
const orderOf = async (code: string) =>
  running.client.ok<{ status: string; envelopeStatus: string }>("GET", `/api/partner/orders/${code}`);

test("two signers sign one after the other, and the order is signed and sealed with the last", async () => {
  const [jane, john] = people("Jane", "John");
  assert.ok(jane && john);
  const code = await running.order([jane, { ...john, routing: 2 }]);
  const first = await running.linkOf(jane.email);
  assert.equal((await orderOf(code)).envelopeStatus, "Sent");
  assert.deepEqual(running.mailsTo(john.email), [], "it is not his turn yet");
  const view = await running.ceremony.view(first);
  assert.deepEqual([view.state, view.signer.name, view.signers.length], ["ready", "Jane", 2]);
  await running.ceremony.opened(first, browser);
  assert.equal((await orderOf(code)).envelopeStatus, "Viewed");
  assert.deepEqual(await signBy(running.ceremony, first, "Jane"), { outcome: "signed", completed: false });
  assert.equal((await orderOf(code)).envelopeStatus, "PartiallySigned");
  assert.equal((await running.ceremony.view(first)).state, "signed");
  const second = await running.linkOf(john.email);
  assert.deepEqual(await signBy(running.ceremony, second, "John"), { outcome: "signed", completed: true });
  const { status, envelopeStatus } = await orderOf(code);
  assert.deepEqual([status, envelopeStatus], ["EsignComplete", "Completed"]);
  assert.equal((await running.ceremony.view(second)).state, "completed");
});
