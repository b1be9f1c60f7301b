import assert from "node:assert/strict";
import { test } from "node:test";
import { startEasyPost } from "@signsealship/testing/doubles/easypost";
import { forTests } from "@signsealship/testing/for-tests";
import { pino } from "pino";
import { labelRates } from "../../../src/delivery/shipping/shipping.ts";
import { systemRandom } from "../../../src/kernel/platform/random.ts";
import { basicAuthorization, createCaller } from "../../../src/providers/providers.ts";
import { address } from "../../orders/pricing/fixtures.ts";

const log = pino({ level: "silent" });
const parcel = { from: address("TX", "78701"), to: address("NY", "10001"), weightGrams: 44 };

const double = await forTests(startEasyPost());

function ratesWith(has = true, patienceMs = 5_000) {
  const settings = {
    provider: "easypost",
    baseUrl: double.url,
    authorization: basicAuthorization(double.apiKey),
  } as const;
  const { call } = createCaller({ fetch, clock: () => new Date(), log }, settings);
  return labelRates({ providers: { has: () => has, callOf: () => call }, log, random: systemRandom, patienceMs });
}

test("carriers' rates are named with their shipment", async () => {
  const rate = await ratesWith()?.(parcel);
  assert.ok(double.shipments.has(rate?.shipmentId ?? ""));
  const { shipmentId: _, ...named } = rate ?? {};
  assert.deepEqual(named, {
    carrier: "USPS",
    service: "Ground Advantage",
    amountCents: 593,
    zone: 4,
    addressProblem: null,
  });
  assert.equal(double.labels(), 0);
});

test("an address in doubt is quoted with a warning", async () => {
  const rate = await ratesWith()?.({ ...parcel, to: { ...parcel.to, line1: "1 Undeliverable Road" } });
  assert.deepEqual([rate?.amountCents, rate?.addressProblem], [593, "Address not found"]);
});

test("without an account no request is sent; a refused, cut or late answer counts as none", async () => {
  assert.equal(ratesWith(false), null);
  for (const failure of [{ status: 422 }, { status: 500 }, { status: 401 }, "cut"] as const) {
    double.fail(failure);
    assert.equal(await ratesWith()?.(parcel), null);
  }
  double.fail("hang");
  const began = performance.now();
  assert.equal(await ratesWith(true, 100)?.(parcel), null);
  assert.ok(performance.now() - began < 3_000);
  const usual = double.offers.splice(0, double.offers.length);
  assert.equal(await ratesWith()?.(parcel), null);
  double.offers.push(...usual);
});
