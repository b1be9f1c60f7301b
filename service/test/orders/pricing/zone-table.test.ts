import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { weightGrams } from "../../../src/orders/pricing/postage.ts";
import { areNeighbors, isOneOfTheFiftyOrDc, usStates } from "../../../src/orders/pricing/us-states.ts";
import { stateOfZip } from "../../../src/orders/pricing/zip3.ts";
import { zonesBetween, zoneTable } from "../../../src/orders/pricing/zone-table.ts";
import { book, prices } from "./fixtures.ts";

const areas = prices.zip3.content;
const zones = zonesBetween(areas);
const table = zoneTable({ areas, postage: book.postage });
const parcel = { from: { state: "TX", postal: "78701" }, weightGrams: 100, method: "label" as const };
const to = (state: string, postal: string) => ({ ...parcel, to: { state, postal } });

const unassigned = (
  "213 269 343 345 348 353 419 428 429 517 518 519 529 533 536 552 568 578 579 589 621 632 642 643 659 663 682 694 695 696 " +
  "697 698 699 702 709 715 732 742 771 817 818 819 839 848 849 854 858 861 862 866 867 868 869 872 876 886 887 888 892 896 " +
  "899 909 929 987 000 001 002 003 004"
).split(" ");

test("finds the state of a ZIP code, also of one within the digits of another state", () => {
  for (const [postal, state] of [
    ["78701", "TX"],
    ["10118-0001", "NY"],
    ["06320", "CT"],
    ["06390", "NY"],
    ["00901", null],
    ["09012", null],
    ["7870", null],
  ] as const)
    assert.equal(stateOfZip(areas, postal), state, postal);
});

test("finds which states touch", () => {
  for (const [one, other, isNear] of [
    ["TX", "OK", true],
    ["OK", "TX", true],
    ["DC", "VA", true],
    ["CT", "NY", true],
    ["CA", "TX", false],
    ["NY", "TX", false],
    ["TX", "TX", false],
  ] as const)
    assert.equal(areNeighbors(one, other), isNear, `${one} ${other}`);
  const states = [...usStates.keys()].filter(isOneOfTheFiftyOrDc);
  const alone = states.filter((one) => !states.some((other) => areNeighbors(one, other)));
  assert.deepEqual(alone, ["AK", "HI"]);
});

describe("zones between ZIP codes", () => {
  const known: [string, string, number][] = [
    ["10001", "10025", 1], // within Manhattan
    ["10001", "11201", 1], // New York to Brooklyn
    ["10001", "19103", 2], // New York to Philadelphia, 80 miles
    ["10001", "02108", 3], // New York to Boston, 190 miles
    ["10001", "15222", 4], // New York to Pittsburgh, 315 miles
    ["10001", "60602", 5], // New York to Chicago, 710 miles
    ["10001", "33130", 6], // New York to Miami, 1,090 miles
    ["10001", "80202", 7], // New York to Denver, 1,630 miles
    ["10001", "90012", 8], // New York to Los Angeles, 2,450 miles
    ["78701", "77002", 2], // Austin to Houston, 145 miles
    ["78701", "75201", 3], // Austin to Dallas, 180 miles
    ["98101", "97204", 2], // Seattle to Portland, 145 miles
    ["94105", "96813", 8], // San Francisco to Honolulu
    ["98101", "99501", 7], // Seattle to Anchorage, 1,440 miles
  ];
  for (const [from, there, zone] of known) {
    test(`${from} to ${there} is zone ${zone}`, () => assert.equal(zones(from, there), zone));
  }

  test("are the same in both directions, from 1 to 8, and 1 at home", () => {
    const zip3 = fc.constantFrom(...areas.flatMap(({ first, last }) => [first, last]));
    fc.assert(
      fc.property(zip3, zip3, (a, b) => {
        const zone = zones(`${a}01`, `${b}99-1234`);
        assert.ok(zone !== null && zone >= 1 && zone <= 8);
        assert.equal(zones(`${b}99`, `${a}01`), zone);
        assert.equal(zones(`${a}01`, `${a}99`), 1);
      }),
      { numRuns: 2000 },
    );
  });

  test("do not exist for unassigned areas and malformed codes", () => {
    for (const zip3 of unassigned) {
      assert.equal(zones(`${zip3}01`, "78701"), null, zip3);
      assert.equal(zones("78701", `${zip3}01`), null, zip3);
    }
    for (const wrong of ["", "787", "7870", "787011", "78701-", "78701-12", " 78701", "78701\n", "K1A 0B1", "٧٨٧٠١"]) {
      assert.equal(zones("78701", wrong), null, wrong);
    }
  });
});

describe("the shipped areas", () => {
  test("cover each of the fifty states and DC, and nothing else", () => {
    const expected = [...usStates.keys()].filter(isOneOfTheFiftyOrDc).sort();
    assert.equal(expected.length, 51);
    assert.deepEqual([...new Set(areas.map(({ state }) => state))].sort(), expected);
  });

  test("contain about nine hundred ZIP3 codes, none of Puerto Rico, the Virgin Islands, Guam or the military", () => {
    const codes = areas.reduce((count, { first, last }) => count + Number(last) - Number(first) + 1, 0);
    assert.ok(codes > 880 && codes < 920, String(codes));
    for (const postal of ["00601", "00725", "00802", "00901", "09001", "09601", "34002", "96201", "96601", "96910"]) {
      assert.equal(zones("78701", postal), null, postal);
    }
  });
});

describe("postage by the zone table", () => {
  test("is the table's amount for the zone and the first step that covers the weight", async () => {
    const rate = (grams: number) => table.rate({ ...to("TX", "75201"), weightGrams: grams });
    const zone3 = { carrier: "USPS", service: "Priority Mail", zone: 3 };
    assert.deepEqual(await rate(1), { ...zone3, amountCents: 955 });
    assert.deepEqual(await rate(227), { ...zone3, amountCents: 955 });
    assert.deepEqual(await rate(228), { ...zone3, amountCents: 1025 });
    assert.deepEqual(await rate(4536), { ...zone3, amountCents: 1815 });
  });

  test("does not exist above the heaviest step", async () => {
    assert.equal(table.rate({ ...to("TX", "75201"), weightGrams: 4537 }), null);
    assert.equal(table.rate({ ...to("TX", "75201"), weightGrams: Number.NaN }), null);
  });

  test("does not exist to or from an unassigned area, a territory or the military", async () => {
    for (const there of [
      to("TX", "00001"),
      to("PR", "00901"),
      to("PR", "78701"),
      to("AE", "09001"),
      to("GU", "96910"),
      to("XX", "78701"),
    ]) {
      assert.equal(table.rate(there), null);
      assert.equal(table.rate({ ...there, from: there.to, to: parcel.from }), null);
    }
  });

  test("does not decrease with weight or distance", async () => {
    const weights = book.postage.steps.map(({ upToGrams }) => upToGrams);
    const places = [
      to("TX", "78702"),
      to("TX", "77002"),
      to("TX", "75201"),
      to("TX", "79901"),
      to("CO", "80202"),
      to("NY", "10001"),
    ];
    const grid = await Promise.all(
      places.map((place) =>
        Promise.all(weights.map(async (grams) => table.rate({ ...place, weightGrams: grams })?.amountCents ?? -1)),
      ),
    );
    for (const [place, row] of grid.entries()) {
      for (const [weight, amount] of row.entries()) {
        assert.ok(amount > (row[weight - 1] ?? 0) && amount > (grid[place - 1]?.[weight] ?? 0));
      }
    }
  });
});

test("a document weighs its envelope and a sheet for every page, in whole grams rounded up", () => {
  assert.equal(weightGrams(1, book.postage), 35);
  assert.equal(weightGrams(50, book.postage), 257);
  assert.equal(weightGrams(100, book.postage), 484);
  assert.equal(weightGrams(3, { ...book.postage, sheetGrams: 1.1, envelopeGrams: 0.7 }), 4);
});
