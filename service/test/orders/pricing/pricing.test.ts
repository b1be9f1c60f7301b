import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { isTier, openRoomQuota, tiers } from "../../../src/firms/partners/tiers.ts";
import type { Sql } from "../../../src/kernel/platform/database/database.ts";
import {
  createPricing,
  loadPricingFiles,
  openPricing,
  type Parcel,
  type PriceRequest,
} from "../../../src/orders/pricing/pricing.ts";
import { isUsState, usStates } from "../../../src/orders/pricing/us-states.ts";
import { address, lineWith, pricing, shippedPaths, shippedText } from "./fixtures.ts";

const request: PriceRequest = {
  tier: "trial",
  services: { sign: false, notarize: false, ship: true, fax: false },
  docSlug: null,
  pages: 3,
  shipMethod: "label",
  shipTo: address("NY", "10001"),
  shipFrom: null,
  askCarriers: null,
};

describe("pricing an order", () => {
  test("ships from the business address unless the order has a sender", async () => {
    const label = async (change: Partial<PriceRequest>) =>
      (await pricing.price({ ...request, ...change })).quote.lines[1]?.label;
    assert.equal(await label({}), "USPS Priority Mail postage, zone 7");
    assert.equal(await label({ shipFrom: address("NY", "11201") }), "USPS Priority Mail postage, zone 1");
  });

  test("weighs the pages", async () => {
    const postage = async (pages: number) => (await pricing.price({ ...request, pages })).quote.lines[1]?.amountCents;
    assert.deepEqual(
      [await postage(1), await postage(43), await postage(44), await postage(992)],
      [1225, 1225, 1375, 4705],
    );
  });

  test("reports when the carrier has no rate, and quotes the rest", async () => {
    const lines = ["WorkflowFee", "ShippingHandlingFee"];
    for (const change of [
      { shipTo: address("PR", "00901") },
      { pages: 993 },
      { shipFrom: address("GU", "96910") },
      { shipTo: null },
    ]) {
      const { outcome, quote } = await pricing.price({ ...request, ...change });
      assert.equal(outcome, "noCarrierRate");
      assert.deepEqual(
        quote.lines.map(({ type }) => type),
        lines,
      );
    }
    const { outcome } = await pricing.price({
      ...request,
      services: { ...request.services, ship: false },
      shipTo: null,
    });
    assert.equal(outcome, "quoted");
  });

  test("asks carriers first, with the weight and both addresses, otherwise the zone table", async () => {
    const asked: Parcel[] = [];
    const named = {
      amountCents: 777,
      carrier: "Courier",
      service: "Overnight",
      shipmentId: "shp_1",
      addressProblem: null,
    };
    const askCarriers = (zone: number | null) => async (parcel: Parcel) => {
      asked.push(parcel);
      return { ...named, zone };
    };
    const priced = await pricing.price({ ...request, askCarriers: askCarriers(2) });
    assert.deepEqual(
      priced.quote.lines.map(({ label, amountCents }) => [label, amountCents]),
      [
        ["Document workflow", 1200],
        ["Courier Overnight postage, zone 2", 777],
        ["Shipping handling", 1495],
      ],
    );
    assert.equal(priced.carrierRate?.shipmentId, "shp_1");
    const [parcel] = asked;
    assert.deepEqual(
      [parcel?.weightGrams, parcel?.from.line1, parcel?.to.postal],
      [44, "1100 Congress Avenue", "10001"],
    );
    const { quote } = await pricing.price({ ...request, askCarriers: askCarriers(null) });
    assert.equal(quote.lines[1]?.label, "Courier Overnight postage");

    const silent = await pricing.price({ ...request, askCarriers: async () => null });
    assert.equal(silent.carrierRate, null);
    assert.equal(silent.quote.lines[1]?.label, "USPS Priority Mail postage, zone 7");
    const unshipped = { ...request.services, ship: false };
    await pricing.price({ ...request, services: unshipped, shipTo: null, askCarriers: askCarriers(1) });
    assert.equal(asked.length, 2);
  });

  test("uses the catalog's document with its slug", async () => {
    const { quote } = await pricing.price({
      ...request,
      docSlug: "payoff-authorization",
      shipTo: address("TX", "78702"),
    });
    assert.deepEqual(
      quote.lines.map(({ type }) => type),
      ["WorkflowFee", "RushFee", "ShippingCarrierRate", "ShippingHandlingFee"],
    );
  });
});

test("a catalog document is found by its exact slug only", () => {
  assert.equal(pricing.catalogRow("quitclaim-deed")?.title, "Quitclaim deed");
  for (const slug of ["Quitclaim-Deed", "quitclaim", "", "constructor", "__proto__"])
    assert.equal(pricing.catalogRow(slug), null);
});

test("remote notarization is blocked only in the listed states", () => {
  const blocked = [...usStates.keys()].filter(pricing.notarizationBlocked);
  assert.deepEqual(blocked.sort(), ["GA", "MS", "SC"]);
  assert.ok(pricing.notarizationBlocked("ga"));
});

test("an operator's own files are read, and a mistake is reported in one line", () => {
  const folder = mkdtempSync(join(tmpdir(), "pricing-"));
  try {
    const own = join(folder, "mine.yaml");
    const text = shippedText("price-book.yaml").replace("FaxFee: 900", "FaxFee: 950");
    writeFileSync(own, text);
    assert.equal(loadPricingFiles({ ...shippedPaths, priceBook: own }).priceBook.content.fees.FaxFee, 950);
    writeFileSync(own, text.replace("950", "9.50"));
    assert.throws(() => loadPricingFiles({ ...shippedPaths, priceBook: own }), {
      name: "DataFileError",
      file: own,
      line: lineWith(text, "FaxFee"),
      message: `mine.yaml:${lineWith(text, "FaxFee")}: fees.FaxFee must be an integer of cents >= 0`,
    });
    writeFileSync(own, "notRecognized: []\n");
    assert.equal(createPricing(loadPricingFiles({ ...shippedPaths, states: own })).notarizationBlocked("GA"), false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("an unreadable file is reported with its variable, and a shipped one by its path alone", async () => {
  const none = join(tmpdir(), "no-such-folder", "none.yaml");
  const noDatabase = { query: () => assert.fail("the files are read first") } as unknown as Sql;
  const opened = (part: keyof typeof shippedPaths) => openPricing(noDatabase, { ...shippedPaths, [part]: none });
  await assert.rejects(opened("priceBook"), /^StartupError: PRICE_BOOK must be a file that can be read: /);
  await assert.rejects(opened("catalog"), /^StartupError: CATALOG must be a file that can be read: /);
  await assert.rejects(opened("states"), { name: "DataFileError", file: none });
});

test("mail can be addressed to the states, DC, the territories and the military, in capitals", () => {
  assert.equal(usStates.size, 62);
  for (const code of ["TX", "DC", "PR", "VI", "AE"]) assert.ok(isUsState(code), code);
  for (const code of ["XX", "tx", "ON", "", "Texas"]) assert.ok(!isUsState(code), code);
});

test("tiers have their quota of open rooms, and exact names", () => {
  assert.deepEqual(tiers.map(openRoomQuota), [5, 5, 25, null]);
  assert.ok(isTier("ProOffice"));
  for (const name of ["prooffice", "Trial", "", "toString", null]) assert.ok(!isTier(name));
});
