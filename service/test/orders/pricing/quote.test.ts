import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { tiers } from "../../../src/firms/partners/tiers.ts";
import type { CatalogRow } from "../../../src/orders/pricing/catalog.ts";
import { addOnTypes, feeTypes, lineTypes } from "../../../src/orders/pricing/line-types.ts";
import type { PriceBook } from "../../../src/orders/pricing/price-book.ts";
import { type QuoteInput, quote } from "../../../src/orders/pricing/quote.ts";
import { book, prices, pricing } from "./fixtures.ts";

const nothing = { sign: false, notarize: false, ship: false, fax: false };
const everything = { sign: true, notarize: true, ship: true, fax: true };
const postage = { amountCents: 1145, carrier: "USPS", service: "Priority Mail", zone: 6 };
const quoted = (input: Partial<QuoteInput>) =>
  quote({ book, tier: "trial", services: nothing, shipMethod: "label", ...input });
const shown = (input: Partial<QuoteInput>) =>
  quoted(input).lines.map(({ type, amountCents }) => `${type} ${amountCents}`);

function withFees(fees: Partial<PriceBook["fees"]>): PriceBook {
  return { ...book, fees: { ...book.fees, ...fees } };
}

describe("golden quotes of the shipped price book", () => {
  test("without services it costs only the workflow fee", () => {
    assert.deepEqual(quoted({}), {
      lines: [{ type: "WorkflowFee", label: "Document workflow", amountCents: 1200 }],
      subtotalCents: 1200,
      discountCents: 0,
      totalCents: 1200,
    });
  });

  test("signing has no line of its own", () => {
    assert.deepEqual(quoted({ services: { ...nothing, sign: true } }), quoted({}));
  });

  test("notarization is a notary fee and a technology fee", () => {
    const { lines, totalCents } = quoted({ services: { ...nothing, notarize: true } });
    assert.deepEqual(lines.slice(1), [
      { type: "NotaryFee", label: "Online notarization", amountCents: 2500 },
      { type: "TechFee", label: "Notarization technology", amountCents: 2400 },
    ]);
    assert.equal(totalCents, 6100);
  });

  test("shipping by label is postage and handling", () => {
    const { lines, totalCents } = quoted({ services: { ...nothing, ship: true }, postage });
    assert.deepEqual(lines.slice(1), [
      { type: "ShippingCarrierRate", label: "USPS Priority Mail postage, zone 6", amountCents: 1145 },
      { type: "ShippingHandlingFee", label: "Shipping handling", amountCents: 1495 },
    ]);
    assert.equal(totalCents, 3840);
  });

  test("print and mail replaces the handling fee, not the postage", () => {
    const input = { services: { ...nothing, ship: true }, postage, shipMethod: "print_mail" as const };
    assert.deepEqual(shown(input), ["WorkflowFee 1200", "ShippingCarrierRate 1145", "PrintMailFee 1295"]);
  });

  test("without a rate a shipped order has no postage line", () => {
    const input = { services: { ...nothing, ship: true }, postage: null };
    assert.deepEqual(shown(input), ["WorkflowFee 1200", "ShippingHandlingFee 1495"]);
  });

  test("postage and ship method don't count when nothing is shipped", () => {
    assert.deepEqual(shown({ postage, shipMethod: "print_mail" }), ["WorkflowFee 1200"]);
  });

  test("fax is 9.00", () => {
    assert.deepEqual(shown({ services: { ...nothing, fax: true } }), ["WorkflowFee 1200", "FaxFee 900"]);
  });

  test("everything, for the highest tier", () => {
    const { lines, ...amounts } = quoted({ services: everything, postage, tier: "ClosingDesk" });
    assert.deepEqual(
      lines.map(({ type }) => type),
      ["WorkflowFee", "NotaryFee", "TechFee", "ShippingCarrierRate", "ShippingHandlingFee", "FaxFee"],
    );
    assert.deepEqual(amounts, { subtotalCents: 9640, discountCents: 180, totalCents: 9460 });
  });

  test("a catalog row decides signing and notarization, adds its lines and applies its discount", () => {
    const lines = (slug: string) =>
      shown({ catalogRow: pricing.catalogRow(slug), services: { ...nothing, notarize: true } });
    assert.deepEqual(lines("closing-disclosure"), ["WorkflowFee 1200", "Discount -300"]);
    assert.deepEqual(lines("lien-release"), ["WorkflowFee 1200", "NotaryFee 2500", "TechFee 2400", "Discount -300"]);
    assert.deepEqual(lines("payoff-authorization"), ["WorkflowFee 1200", "RushFee 1500"]);
    assert.deepEqual(lines("recorded-copy"), ["WorkflowFee 1200"]);
    const deed = quoted({ catalogRow: pricing.catalogRow("warranty-deed") });
    assert.deepEqual(deed.lines.slice(3), [
      { type: "WitnessFee", label: "Witness x 2", amountCents: 2000 },
      { type: "ServiceAdjustment", label: "Recording format check", amountCents: 250 },
    ]);
  });
});

test("the shipped catalog and the ship methods together produce every line type of the contract", () => {
  const seen = new Set<string>();
  for (const catalogRow of prices.catalog.content) {
    for (const shipMethod of ["label", "print_mail"] as const) {
      for (const line of quoted({ services: everything, catalogRow, postage, shipMethod }).lines) {
        assert.ok(line.label.length > 0);
        seen.add(line.type);
      }
    }
  }
  assert.deepEqual([...seen].sort(), [...lineTypes].sort());
});

describe("the tier's discount", () => {
  test("is the defined share of the workflow fee for each tier, without a line", () => {
    const discounts = tiers.map((tier) => quoted({ tier, services: everything, postage }));
    assert.deepEqual(
      discounts.map(({ discountCents }) => discountCents),
      [0, 60, 120, 180],
    );
    assert.ok(discounts.every(({ lines, subtotalCents }) => lines.length === 6 && subtotalCents === 9640));
  });

  test("is rounded half-up to a cent in each tier", () => {
    const off = (tier: (typeof tiers)[number], WorkflowFee: number) =>
      quoted({ tier, book: withFees({ WorkflowFee }) }).discountCents;
    assert.deepEqual(
      [9, 10, 11, 29, 30].map((fee) => off("PartnerLink", fee)),
      [0, 1, 1, 1, 2],
    );
    assert.deepEqual(
      [4, 5, 14, 15, 1005].map((fee) => off("ProOffice", fee)),
      [0, 1, 1, 2, 101],
    );
    assert.deepEqual(
      [3, 4, 9, 10, 1190].map((fee) => off("ClosingDesk", fee)),
      [0, 1, 1, 2, 179],
    );
    assert.equal(off("trial", 1199), 0);
  });

  test("is never larger than the rest after a discount code", () => {
    const generous: PriceBook = {
      ...book,
      discountCodes: { FREE: { label: "On the house", amountCents: 99_999 } },
      tierDiscountBasisPoints: { ...book.tierDiscountBasisPoints, ProOffice: 10_000 },
    };
    const catalogRow: CatalogRow = {
      slug: "a",
      title: "A",
      sign: true,
      notarize: false,
      addOns: [],
      discountCode: "FREE",
      esignExcluded: null,
      signingNote: null,
    };
    assert.deepEqual(quoted({ book: generous, catalogRow, tier: "ProOffice" }), {
      lines: [
        { type: "WorkflowFee", label: "Document workflow", amountCents: 1200 },
        { type: "Discount", label: "On the house", amountCents: -1200 },
      ],
      subtotalCents: 0,
      discountCents: 0,
      totalCents: 0,
    });
  });
});

test("for any book and order: whole cents, lines add up, the order of types is fixed, the total is never negative", () => {
  const amount = fc.integer({ min: 0, max: 10_000_000 });
  const points = fc.integer({ min: 0, max: 10_000 });
  const anyRow: fc.Arbitrary<CatalogRow> = fc.record({
    slug: fc.constant("a"),
    title: fc.constant("A"),
    sign: fc.boolean(),
    notarize: fc.boolean(),
    addOns: fc.array(
      fc.record({
        type: fc.constantFrom(...addOnTypes),
        quantity: fc.integer({ min: 1, max: 99 }),
        label: fc.constant(null),
      }),
      { maxLength: 5 },
    ),
    discountCode: fc.constantFrom(null, "FIXED", "SHARE"),
    esignExcluded: fc.constant(null),
    signingNote: fc.constant(null),
  });
  const anyOrder = fc.record({
    fees: fc.array(amount, { minLength: feeTypes.length, maxLength: feeTypes.length }),
    tier: fc.constantFrom(...tiers),
    tierPoints: points,
    fixed: amount,
    share: points,
    services: fc.record({ sign: fc.boolean(), notarize: fc.boolean(), ship: fc.boolean(), fax: fc.boolean() }),
    catalogRow: fc.option(anyRow),
    shipMethod: fc.constantFrom("label" as const, "print_mail" as const),
    postage: fc.option(amount),
  });
  fc.assert(
    fc.property(anyOrder, (order) => {
      const input: QuoteInput = {
        ...order,
        book: {
          ...book,
          fees: Object.fromEntries(feeTypes.map((type, index) => [type, order.fees[index] ?? 0])) as PriceBook["fees"],
          tierDiscountBasisPoints: { ...book.tierDiscountBasisPoints, [order.tier]: order.tierPoints },
          discountCodes: {
            FIXED: { label: "Fixed", amountCents: order.fixed },
            SHARE: { label: "Share", workflowFeeBasisPoints: order.share },
          },
        },
        postage: order.postage === null ? null : { ...postage, amountCents: order.postage },
      };
      const { lines, subtotalCents, discountCents, totalCents } = quote(input);
      const amounts = lines.map(({ amountCents }) => amountCents);
      assert.ok([...amounts, subtotalCents, discountCents, totalCents].every(Number.isSafeInteger));
      assert.equal(
        amounts.reduce((a, b) => a + b, 0),
        subtotalCents,
      );
      assert.equal(subtotalCents - discountCents, totalCents);
      assert.ok(totalCents >= 0 && discountCents >= 0 && discountCents <= input.book.fees.WorkflowFee);
      assert.ok(lines.every(({ type, amountCents }) => (type === "Discount" ? amountCents < 0 : amountCents >= 0)));
      const positions = lines.map(({ type }) => lineTypes.indexOf(type));
      assert.deepEqual(
        positions,
        [...positions].sort((a, b) => a - b),
      );
      assert.equal(lines[0]?.type, "WorkflowFee");
      assert.deepEqual(quote(input), quote(structuredClone(input)));
    }),
  );
});
