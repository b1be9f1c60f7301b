import assert from "node:assert/strict";
import { test } from "node:test";
import easyPost from "@easypost/api";
import { startEasyPost } from "@signsealship/testing/doubles/easypost";
import { forTests } from "@signsealship/testing/for-tests";

// The package's types describe CommonJS, but it is an ES module: its `default` is the class itself.
const EasyPostClient = easyPost as unknown as typeof easyPost.default;

const double = await forTests(startEasyPost());
const client = new EasyPostClient(double.apiKey, { baseUrl: `${double.url}/v2/` });

const to = {
  name: "Jane Doe",
  street1: "417 Montgomery St",
  city: "San Francisco",
  state: "CA",
  zip: "94104",
  country: "US",
};
const from = { ...to, name: "The Office", street1: "1 Main St", city: "Austin", state: "TX", zip: "78701" };
const newShipment = () => client.Shipment.create({ to_address: to, from_address: from, parcel: { weight: 4.2 } });

test("the vendor's client verifies an address, and learns of an undeliverable one", async () => {
  const known = await client.Address.create({ ...to, verify: ["delivery"] });
  assert.equal(known.verifications.delivery?.success, true);
  assert.equal(known.street1, "417 MONTGOMERY ST");
  const unknown = await client.Address.create({ ...to, street1: "Undeliverable St", verify: ["delivery"] });
  assert.equal(unknown.verifications.delivery?.success, false);
  assert.equal(unknown.verifications.delivery?.errors[0]?.code, "E.ADDRESS.NOT_FOUND");
});

test("the vendor's client creates a shipment, buys its label once, tracks it and returns it", async () => {
  const shipment = await newShipment();
  const cheapest = client.Utils.getLowestRate(shipment.rates, ["USPS"], ["GroundAdvantage"]);
  assert.equal(cheapest.rate, "5.93");
  const bought = await client.Shipment.buy(shipment.id, cheapest.id);
  assert.equal(bought.selected_rate.id, cheapest.id);
  assert.match(bought.tracking_code, /^94\d{20}$/);
  const file = await fetch(bought.postage_label.label_url);
  assert.ok((await file.text()).startsWith("%PDF-"));

  await assert.rejects(client.Shipment.buy(shipment.id, cheapest.id), {
    code: "SHIPMENT.POSTAGE.EXISTS",
    statusCode: 422,
  });
  const found = await client.Shipment.retrieve(shipment.id);
  assert.equal(found.postage_label.label_url, bought.postage_label.label_url);

  const trackerId = bought.tracker.id;
  double.track(trackerId, "in_transit");
  assert.equal((await client.Tracker.retrieve(trackerId)).status, "in_transit");
  assert.equal((await client.Shipment.refund(shipment.id)).refund_status, "submitted");
  assert.equal((await client.Shipment.retrieve(shipment.id)).refund_status, "submitted");
});

test("the vendor's client reads the double's refusals", async () => {
  await assert.rejects(client.Shipment.retrieve("shp_unknown"), { code: "NOT_FOUND", statusCode: 404 });
  await assert.rejects(
    newShipment().then(({ id }) => client.Shipment.buy(id, "rate_unknown")),
    { statusCode: 404 },
  );
  const stranger = new EasyPostClient("EZAKother", { baseUrl: `${double.url}/v2/` });
  await assert.rejects(stranger.Tracker.retrieve("trk_x"), { code: "APIKEY.INACTIVE", statusCode: 401 });
  double.failOn(/^POST .*\/buy$/, { status: 402, code: "PAYMENT_REQUIRED", message: "Insufficient funds." });
  const { id, rates } = await newShipment();
  await assert.rejects(client.Shipment.buy(id, rates[0]?.id ?? ""), {
    statusCode: 402,
    message: "Insufficient funds.",
  });
});

test("a cut connection hides a label that was bought", async () => {
  const { id, rates } = await newShipment();
  const before = double.labels();
  double.failOn(/^POST .*\/buy$/, "cut");
  await assert.rejects(client.Shipment.buy(id, rates[0]?.id ?? ""));
  assert.equal(double.labels(), before + 1);
});

test("the vendor's client accepts the double's signature, and no other", async () => {
  const { id, rates } = await newShipment();
  const bought = await client.Shipment.buy(id, rates[0]?.id ?? "");
  const event = double.event(double.track(bought.tracker.id, "delivered", { signed_by: "J DOE" }));
  // The vendor writes whole weights with a decimal. Its client restores the decimal before it verifies the signature.
  const body = JSON.stringify(event).replace(/("weight":\d+)(?=[,}])/g, "$1.0");
  const check = (signature: string, secret = double.webhookSecret) =>
    client.Utils.validateWebhook(Buffer.from(body), { "X-Hmac-Signature": signature }, secret);
  assert.equal((check(double.sign(body)) as { id: string }).id, event["id"]);
  assert.throws(() => check(double.sign(body), "another"));
  assert.throws(() => check(double.sign(`${body} `)));
});
