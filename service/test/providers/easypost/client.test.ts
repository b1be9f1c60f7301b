import assert from "node:assert/strict";
import { test } from "node:test";
import { startEasyPost } from "@signsealship/testing/doubles/easypost";
import { forTests } from "@signsealship/testing/for-tests";
import { pino } from "pino";
import { easypostAccount } from "../../../src/providers/easypost/account.ts";
import {
  basicAuthorization,
  createCaller,
  createEasyPost,
  type EasyPost,
  fetchLabelFile,
} from "../../../src/providers/providers.ts";

const openClient = (apiKey: string, timeoutMs = 2_000): EasyPost => {
  const deps = { fetch, clock: () => new Date(), log: pino({ level: "silent" }) };
  const settings = { provider: "easypost", baseUrl: double.url, authorization: basicAuthorization(apiKey), timeoutMs };
  return createEasyPost(createCaller(deps, settings as Parameters<typeof createCaller>[1]).call);
};

const double = await forTests(startEasyPost());
const easypost = openClient(double.apiKey);

const to = {
  name: "Jane Doe",
  line1: "417 Montgomery St",
  line2: null,
  city: "San Francisco",
  state: "CA",
  postal: "94104",
};
const from = {
  ...to,
  name: "The Office",
  line1: "1 Main St",
  line2: "Suite 2",
  city: "Austin",
  state: "TX",
  postal: "78701",
};

async function done<R>(asked: Promise<{ kind: string; result?: R }>): Promise<R> {
  const { kind, result } = await asked;
  assert.equal(kind, "done");
  return result as R;
}

async function newShipment() {
  const { addressId: toAddressId } = await done(easypost.verifyAddress(to));
  return done(easypost.createShipment({ from, toAddressId, weightGrams: 100, reference: "abc-1" }));
}

test("creates a shipment for a verified address, with rates in cents", async () => {
  const { shipmentId, zone, rates } = await newShipment();
  assert.equal(zone, 4);
  assert.deepEqual(
    rates.map(({ service, amountCents }) => [service, amountCents]),
    [
      ["Media Mail", 382],
      ["Priority", 845],
      ["Ground Advantage", 593],
      ["2nd Day Air", 1720],
    ],
  );
  const [address, shipment] = double.requests.slice(-2);
  assert.deepEqual(address?.body["verify"], ["delivery"]);
  const sent = shipment?.body["shipment"] as { parcel: { weight: number }; options: object };
  // 100 g are 3.527 ounces, which are rounded up.
  assert.equal(sent.parcel.weight, 3.6);
  assert.deepEqual(sent.options, { label_format: "PDF", label_size: "4x6" });
  assert.equal((await done(easypost.findShipment(shipmentId))).label, null);
});

test("reports an undeliverable address in the provider's words", async () => {
  const answer = await done(easypost.verifyAddress({ ...to, line1: "1 Undeliverable Rd" }));
  assert.equal(answer.problem, "Address not found");
  assert.equal((await done(easypost.verifyAddress(to))).problem, null);
});

test("buys a label once; a second attempt does not report that nothing was done", async () => {
  const { shipmentId, rates } = await newShipment();
  const rateId = rates[2]?.rateId ?? "";
  const label = await done(easypost.buyLabel(shipmentId, rateId));
  assert.deepEqual([label.carrier, label.service, label.amountCents], ["USPS", "Ground Advantage", 593]);
  assert.equal((await easypost.buyLabel(shipmentId, rateId)).kind, "unknown");
  assert.deepEqual((await done(easypost.findShipment(shipmentId))).label, label);
  assert.match((await fetchLabelFile(fetch, double.url, label.labelUrl)).toString("latin1"), /^%PDF-/);

  double.track(label.trackerId, "delivered", { signed_by: "J DOE", tracking_code: null });
  const tracking = await done(easypost.findTracker(label.trackerId));
  assert.deepEqual([tracking.status, tracking.signedBy], ["delivered", "J DOE"]);

  assert.equal((await done(easypost.refundLabel(shipmentId))).refundStatus, "submitted");
  assert.equal((await easypost.refundLabel(shipmentId)).kind, "unknown");
  assert.equal((await done(easypost.findShipment(shipmentId))).refundStatus, "submitted");
});

test("distinguishes failures that certainly did nothing from those that may have acted", async () => {
  const { shipmentId, rates } = await newShipment();
  const rateId = rates[1]?.rateId ?? "";
  const buy = async () => (await easypost.buyLabel(shipmentId, rateId)).kind;
  const buying = /^POST .*\/buy$/;
  double.failOn(buying, { status: 422, code: "SHIPMENT.POSTAGE.FAILURE", message: "The carrier refuses." });
  assert.equal(await buy(), "refused");
  double.failOn(buying, { status: 402 });
  assert.equal(await buy(), "unavailable");
  for (const code of ["SHIPMENT.POSTAGE.TIMED_OUT", "SHIPMENT.PURCHASE.IN_PROGRESS"]) {
    double.failOn(buying, { status: 422, code });
    assert.equal(await buy(), "unknown");
  }
  double.failOn(buying, { status: 503 });
  assert.equal(await buy(), "unknown");
  assert.equal((await openClient("EZAKother").findShipment(shipmentId)).kind, "unavailable");
  assert.equal((await easypost.findShipment("shp_unknown")).kind, "refused");
  const before = double.labels();
  double.failOn(buying, "cut");
  assert.equal(await buy(), "unknown");
  assert.equal(double.labels(), before + 1);
});

test("checks the account without effect: its balance, and whether its key buys real labels", async () => {
  const check = (apiKey: string) => {
    const account = easypostAccount({ apiKey, apiBase: double.url, webhookSecret: null });
    return account.check(
      createCaller({ fetch, clock: () => new Date(), log: pino({ level: "silent" }) }, account).call,
    );
  };
  assert.deepEqual(await check(double.apiKey), { ok: true, detail: "the key is accepted; the balance is $12.50" });
  assert.equal((await check("EZAKother")).ok, false);
  const tested = await check("EZTK123");
  assert.match(tested.ok ? "" : tested.why, /test key/);
});

test("fetches a label's file from https, or from the API's address, and requires a PDF", async () => {
  await assert.rejects(fetchLabelFile(fetch, double.url, "http://127.0.0.1:9/label.pdf"), /not https/);
  await assert.rejects(fetchLabelFile(fetch, double.url, "file:///etc/passwd"), /not https/);
  await assert.rejects(fetchLabelFile(fetch, double.url, `${double.url}/v2/nothing`), /no PDF/);
});
