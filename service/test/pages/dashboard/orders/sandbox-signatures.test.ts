import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { signersPart } from "../../../../src/pages/dashboard/orders/signers.ts";
import { render } from "../../../../src/pages/ui/render.ts";
import type { SignerState } from "../../../../src/signing/envelopes/envelopes.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { openCeremonyService, signBy } from "../../../signing/envelopes/ceremony/ceremony-service.ts";

const running = await forTests(openCeremonyService());
const key = running.headers.Authorization.replace("Bearer ", "");
const { headers } = await newMember(running.service, "dana@harbor-title.com", key);
const { baseUrl } = running.service;
const page = async (path: string) => (await fetch(baseUrl + path, { headers })).text();
const post = (path: string, fields: Record<string, string> = {}) =>
  postForm(baseUrl + path, fields, { ...headers, Accept: "text/html" });
const statusOf = async (code: string) =>
  (await running.client.ok<{ status: string }>("GET", `/api/partner/orders/${code}`)).status;

let people = 0;
/** An order with two signers; the first has signed. */
async function partlySigned(more: Record<string, string> = {}): Promise<string> {
  people += 1;
  const [jane, john] = ["jane", "john"].map((name) => ({ name, email: `${name}${people}@example.com` }));
  const code = await running.order([jane ?? {}, john ?? {}], more);
  await signBy(running.ceremony, await running.linkOf(jane?.email ?? ""), "Jane Doe");
  return code;
}

test("the sandbox discards real signatures of an order only after it was asked to", async () => {
  for (const move of ["advance", "complete"]) {
    const code = await partlySigned();
    const path = `/dashboard/orders/${code}`;
    const shown = await page(path);
    const asking = new RegExp(
      `Somebody has signed[\\s\\S]*?action="${path}/sandbox/${move}"[\\s\\S]*?name="discard_signatures"[\\s\\S]*?Discard the signatures`,
    );
    assert.match(shown, asking);
    const refused = await post(`${path}/sandbox/${move}`);
    assert.equal(refused.status, 409);
    assert.match(await refused.text(), /Somebody has signed\. The sandbox would discard the signature/);
    assert.equal((await post(`${path}/sandbox/${move}`, { discard_signatures: "yes" })).status, 409);
    assert.equal(await statusOf(code), "EsignPending");
    assert.equal((await post(`${path}/sandbox/${move}`, { discard_signatures: "on" })).status, 303);
    assert.notEqual(await statusOf(code), "EsignPending");
  }
});

test("an order whose signatures were discarded says nowhere that anybody signed it", async () => {
  const code = await partlySigned({ email: "client@example.com" });
  const links = [await running.linkOf(`jane${people}@example.com`), await running.linkOf(`john${people}@example.com`)];
  const path = `/dashboard/orders/${code}`;
  assert.equal((await post(`${path}/sandbox/complete`, { discard_signatures: "on" })).status, 303);
  const own = await page(path);
  assert.match(own, /Signing simulated: nobody’s signature is in the document; 1 signature was discarded/);
  assert.match(own, /<dt>Signing status<\/dt>\s*<dd>Signing simulated: nobody’s signature is in the document<\/dd>/);
  assert.match(own, /Signed, then discarded/);
  assert.doesNotMatch(own, />Signed<|Signed by all|The signed document is sealed/);
  for (const [language, said] of Object.entries({
    en: "No signature in the document: the sandbox completed this test",
    es: "Sin firma en el documento: esta prueba se completó en el entorno de pruebas",
  })) {
    const shown = await page(`/orders/${code}?lang=${language}`);
    assert.equal(shown.split(said).length - 1, 2, language);
    assert.doesNotMatch(shown, />Signed<|>Ya firmó</);
  }
  for (const { token } of links) {
    const shown = await until(async () => {
      const found = await page(`/sign/${token}`);
      return found.includes("The sandbox completed this test") ? found : null;
    });
    assert.doesNotMatch(shown, /has signed|has not signed yet|You signed on|withdrawn the document/);
  }
  const mail = await until(() => running.mailsTo("client@example.com").find((each) => /Signing simulated/.test(each)));
  assert.match(mail, /Nobody(’|=E2=80=99)s signature is in the document/);
  for (const each of running.mailsTo("client@example.com")) assert.doesNotMatch(each, /Everybody has signed/);
  const { signers } = await running.client.ok<{ signers: { status: string; signedAt: string | null }[] }>(
    "GET",
    `/api/partner/orders/${code}/signers`,
  );
  assert.deepEqual(
    signers.map(({ status, signedAt }) => [status, signedAt]),
    [
      ["signed", null],
      ["signed", null],
    ],
  );
});

test("an order that everybody signed says so, also in test", async () => {
  const code = await partlySigned();
  await signBy(running.ceremony, await running.linkOf(`john${people}@example.com`), "John Doe");
  await until(async () => (await statusOf(code)) === "EsignComplete");
  for (const path of [`/dashboard/orders/${code}`, `/orders/${code}`]) {
    const shown = await page(path);
    assert.match(shown, />Signed</);
    assert.doesNotMatch(shown, /simulated|nobody’s signature/);
  }
});

test("a member of another firm learns nothing of an order's signatures", async () => {
  const code = await partlySigned();
  const otherKey = (await newPartner(running.service)).key;
  const other = await newMember(running.service, "eve@other-title.com", otherKey);
  for (const move of ["advance", "complete"]) {
    const path = `${baseUrl}/dashboard/orders/${code}/sandbox/${move}`;
    assert.equal((await postForm(path, {}, { ...other.headers, Accept: "text/html" })).status, 404);
  }
  assert.equal(await statusOf(code), "EsignPending");
});

test("the sandbox completes a room that has a signature only if its form discards the signatures", async () => {
  const codes = [await running.order([{ name: "Ann Roe", email: "ann@example.com" }]), await partlySigned()];
  const { roomCode } = await running.client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "12 Elm Street" });
  for (const orderCode of codes) await running.client.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode });
  const complete = `/dashboard/rooms/${roomCode}/sandbox/complete`;
  assert.match(await page(`/dashboard/rooms/${roomCode}`), /its links to sign end/);
  assert.match(await page(`/dashboard/rooms/${roomCode}`), /name="discard_signatures"[\s\S]*?Discard the signatures/);
  assert.equal((await post(complete)).status, 409);
  for (const code of codes) assert.equal(await statusOf(code), "EsignPending");
  assert.equal((await post(complete, { discard_signatures: "on" })).status, 303);
  for (const code of codes) assert.equal(await statusOf(code), "Completed");
  const room = await running.client.ok<{ orders: { simulated?: true; signers: { signed: boolean }[] }[] }>(
    "GET",
    `/api/rooms/${roomCode}`,
  );
  for (const { simulated, signers } of room.orders)
    assert.ok(simulated && signers.every(({ signed }) => signed), "the sandbox completed the signing");
  const shown = await page(`/rooms/${roomCode}`);
  assert.equal(shown.split("no signature in the document").length - 1, 3);
  assert.doesNotMatch(shown, /has signed/);
});

test("a room warns of no lost signatures after everybody has signed", async () => {
  const code = await partlySigned();
  await signBy(running.ceremony, await running.linkOf(`john${people}@example.com`), "John Doe");
  await until(async () => (await statusOf(code)) === "EsignComplete");
  const { roomCode } = await running.client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "14 Elm Street" });
  await running.client.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode: code });
  const shown = await page(`/dashboard/rooms/${roomCode}`);
  assert.match(shown, /Complete 1 order/);
  assert.doesNotMatch(shown, /nobody signs|its links to sign end|discard_signatures/);
});

test("the client of a declined test payment is not asked to pay where nobody can", async () => {
  const email = "declined@example.com";
  const code = await running.order([{ name: "Ann Roe", email }], { email }, undefined, { pay: false });
  await running.client.ok("POST", `/api/partner/sandbox/orders/${code}/checkout`, { outcome: "decline" });
  const shown = await page(`/orders/${code}`);
  assert.match(shown, /Nobody can pay for a test order here: the firm that placed it simulates the payment/);
  assert.doesNotMatch(shown, /Try to pay again|class="pay/);
  const mail = await until(() => running.mailsTo(email).find((each) => each.includes("Payment failed")));
  assert.match(mail, /only the firm can simulate the payment again/);
  assert.doesNotMatch(mail, /use another card|Review and pay/);
});

test("the sandbox asks nothing about an order that nobody has signed", async () => {
  const code = await running.order([{ name: "Bob Roe", email: "bob@example.com" }]);
  await running.linkOf("bob@example.com");
  assert.doesNotMatch(await page(`/dashboard/orders/${code}`), /discard_signatures/);
  assert.equal((await post(`/dashboard/orders/${code}/sandbox/complete`)).status, 303);
});

test("a link that was made after the signature is not shown as a request for it", () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 10, 22, 10, minute));
  const shown = (issuedAt: Date) => {
    const signer: SignerState = {
      n: 1,
      name: "Jane Doe",
      email: "jane@example.com",
      language: "en" as const,
      routing: 1,
      auth: "link" as const,
      status: "signed" as const,
      issuedAt,
      openedAt: at(5),
      signedAt: at(5),
      proposal: null,
      takenIn: false,
      wantsPaper: false,
      isSimulated: false,
      signingUrl: null,
    };
    const part = signersPart({
      submission: "",
      orderCode: "a".repeat(40),
      signers: [signer],
      places: [],
      elsewhere: new Map(),
      open: false,
      isOnHold: false,
      isNextRound: false,
      textCodes: false,
    });
    return [...render(part).matchAll(/<dt>(Asked|Signed)</g)].map(([, label]) => label);
  };
  assert.deepEqual(shown(at(1)), ["Asked", "Signed"]);
  assert.deepEqual(shown(at(9)), ["Signed"]);
});
