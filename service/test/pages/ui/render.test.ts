import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { coverage } from "@signsealship/evidence/manifest";
import { needs } from "@signsealship/testing/tools/tools";
import fc from "fast-check";
import { maskEmail } from "../../../src/kernel/platform/mail/mask-email.ts";
import { type OrderStatus, orderStatuses } from "../../../src/orders/order/order.ts";
import {
  orderFragment as fragmentFor,
  type OrderView,
  orderPage as pageFor,
} from "../../../src/pages/client/order-page.ts";
import {
  codeText,
  emptyState,
  facts,
  moneyTable,
  notice,
  progressSteps,
  timeline,
} from "../../../src/pages/ui/components.ts";
import { money, time } from "../../../src/pages/ui/format.ts";
import { statusWords } from "../../../src/pages/ui/orders/status-words.ts";
import { orderSteps } from "../../../src/pages/ui/orders/steps.ts";
import { html, render } from "../../../src/pages/ui/render.ts";
import { readerOf } from "../../../src/pages/ui/words/reader.ts";
import { closingPage } from "../../../src/pages/verify/closing/page.ts";
import { closingChecks } from "../../../src/pages/verify/manual-checks.ts";
import { plainWords } from "../../../src/pages/verify/plain-words.ts";
import { claimList, verdictBanner } from "../../../src/pages/verify/verdict.ts";
import { closingCode, closingRecord, retention } from "./samples.ts";
import { order } from "./serve-pages.ts";

const assets = { url: (name: string) => `/assets/${name}` };
const reader = readerOf(undefined, {});
const orderFragment = (view: OrderView) => fragmentFor(view, reader);
const orderPage = (from: typeof assets, view: OrderView) => pageFor(from, view, "http://localhost", reader);
const states = (status: string, bought = {}) =>
  orderSteps(order({ status, ...bought })).map(({ label, state }) => `${label}: ${state}`);

describe("the words of a status", () => {
  test("exist for all 27, each with its own heading, a summary and the next step", () => {
    const all = orderStatuses.map((status) => statusWords(status));
    assert.equal(new Set(all.map(({ headline }) => headline)).size, 27);
    assert.equal(new Set(all.map(({ label }) => label)).size, 27);
    for (const { summary, next } of all) {
      assert.match(summary, /\.$/);
      assert.ok(next.length > 0);
    }
  });

  test("say of a notarization of the sandbox that it was simulated", () => {
    const words = (isActSimulated: boolean) => statusWords("NotarizationComplete", undefined, [], isActSimulated);
    assert.equal(words(true).headline, "Notarization simulated (test)");
    assert.match(words(true).summary, /Nothing in it is real/);
    assert.equal(words(false).headline, "The document is notarized");
  });

  test("promise no email about the documents of a test order", () => {
    const finished = { status: "Completed", documentsDeletedAt: null } as const;
    for (const [environment, promise] of [
      ["live", true],
      ["test", false],
    ] as const) {
      const page = orderFragment(order({ ...finished, environment }));
      assert.equal(/We email a link to them/.test(page), promise);
      assert.equal(/We email the link to the documents/.test(page), promise);
      assert.equal(/stored by this service and sent to nobody/.test(page), !promise);
    }
  });

  test("name a status that is newer than the page, and never as complete", () => {
    for (const status of ["Archived", "constructor", "__proto__"]) {
      const { tone, label, summary } = statusWords(status);
      assert.deepEqual([tone, label], ["waiting", status]);
      assert.match(summary, new RegExp(status));
    }
  });

  test("state that a person prices an order that could not be priced", () => {
    const page = orderFragment(order({ status: "ManualQuoteRequired" }));
    assert.match(page, /We are pricing this order/);
    assert.match(page, /Total so far/);
  });
});

describe("the steps of an order", () => {
  test("are the bought services, in their order", () => {
    assert.deepEqual(states("QuoteReady", { sign: false, ship: false }), [
      "Order placed: done",
      "Payment: current",
      "Online notarization: upcoming",
      "Fax to •••\u00a00142: upcoming",
      "Finished: upcoming",
    ]);
  });

  test("continue when a service is complete, and skip services that were not bought", () => {
    assert.deepEqual(states("EsignComplete", { notarize: false, fax: false }), [
      "Order placed: done",
      "Payment: done",
      "Signing: done",
      "Shipping: current",
      "Finished: upcoming",
    ]);
  });

  test("are all done only when the order is Completed", () => {
    for (const status of [...orderStatuses, "Archived"]) {
      const allDone = orderSteps(order({ status })).every(({ state }) => state === "done");
      assert.equal(allDone, status === "Completed", status);
    }
  });

  test("have at most one current step, and mark a problem", () => {
    for (const status of orderStatuses) {
      const current = orderSteps(order({ status })).filter(({ state }) => state === "current" || state === "attention");
      assert.ok(current.length <= 1, status);
    }
    assert.ok(states("IdentityLocked").includes("Online notarization: attention"));
    assert.match(render(progressSteps(orderSteps(order()))), /<li class="current" aria-current="step">/);
  });

  test("stop when the order is canceled, refunded or on hold", () => {
    for (const status of ["OnHold", "RefundPending", "Refunded", "Cancelled"]) {
      const [placed, ...others] = orderSteps(order({ status }));
      assert.equal(placed?.state, "done");
      assert.ok(others.every(({ state }) => state === "stopped"));
    }
  });
});

describe("an order on hold", () => {
  test("is paused at its step, or at the next one when that was done", () => {
    const held = (statusBeforeHold: OrderStatus) =>
      orderSteps(order({ status: "OnHold", statusBeforeHold })).find(({ state }) => state === "attention");
    assert.deepEqual(held("EsignPending"), { label: "Signing", state: "attention", note: "Paused" });
    assert.deepEqual(held("EsignComplete"), { label: "Online notarization", state: "attention", note: "Paused" });
  });
});

describe("the page of an order", () => {
  test("says that a test order is not real, and says nothing like it about a live one", () => {
    assert.match(orderFragment(order({ environment: "test" })), /This is a test/);
    assert.doesNotMatch(orderFragment(order()), /This is a test/);
  });

  test("escapes all texts of the order", () => {
    const hostile = `<script>alert(1)</script>"'&`;
    const page = orderPage(
      assets,
      order({
        status: hostile,
        externalReference: hostile,
        customerEmail: `${hostile}@${hostile}`,
        faxTo: hostile,
        lines: [{ type: hostile, label: hostile, amountCents: 1 }],
      }),
    );
    assert.doesNotMatch(page, /<script>/);
    assert.doesNotMatch(page, /"'&/);
    assert.match(page, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
  });

  test("adds no element because of any text of the order", () => {
    const elements = (page: string) => page.match(/<[a-z]/gi)?.length;
    const plain = elements(orderPage(assets, order({ externalReference: "x" })));
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
        assert.equal(elements(orderPage(assets, order({ externalReference: text }))), plain);
      }),
    );
  });

  test("shows a line of an unknown type as a row, and discounts with a minus", () => {
    const lines = [
      { type: "MoonFee", label: "Delivery to the moon", amountCents: 123456 },
      { type: "Discount", label: "Welcome", amountCents: -500 },
    ];
    const page = orderFragment(order({ lines, subtotalCents: 122956, discountCents: 60, totalCents: 122896 }));
    assert.match(page, /<th scope="row">Delivery to the moon<\/th><td>\$1,234\.56<\/td>/);
    assert.match(page, /<td>\u2212\$5\.00<\/td>/);
    assert.match(page, /Subtotal<\/th><td>\$1,229\.56<\/td>/);
    assert.match(page, /Partner discount<\/th><td>\u2212\$0\.60<\/td>/);
    assert.match(page, /Total<\/th><td>\$1,228\.96<\/td>/);
  });

  test("asks nobody to pay $0.00", () => {
    const label = (totalCents: number) =>
      /class="pay [^>]*>([^<]+)</.exec(
        orderFragment(order({ payable: true, totalCents, together: { orders: [{ totalCents }], withheld: 0 } })),
      )?.[1];
    assert.equal(label(122896), "Pay $1,228.96");
    assert.equal(label(0), "Begin the order: there is nothing to pay");
  });

  test("omits subtotal and discount when the tier has none", () => {
    assert.doesNotMatch(orderFragment(order({ discountCents: 0 })), /Subtotal|Partner discount/);
  });

  test("never shows the complete email address or fax number", () => {
    const page = orderPage(assets, order());
    assert.match(page, /d\*\*\*@example\.com/);
    assert.doesNotMatch(page, /dana|\+1512/);
  });

  test("has no inline script, style or handler", () => {
    assert.doesNotMatch(orderPage(assets, order()), /<script(?! src=)|<style|\sstyle=|\son[a-z]+=/);
  });
});

describe("formats", () => {
  test("mask an email address except its first character and its domain", () => {
    assert.equal(maskEmail("d@example.com"), "d***@example.com");
    assert.equal(maskEmail('"a@b"@example.com'), '"***@example.com');
    assert.equal(maskEmail("nobody"), "***");
    assert.equal(maskEmail("@example.com"), "***");
  });

  test("write money in US dollars and instants in UTC", () => {
    assert.equal(money(0), "$0.00");
    assert.equal(money(-100005), "\u2212$1,000.05");
    assert.equal(
      render(time(new Date("2026-11-20T00:04:05.678Z"))),
      '<time datetime="2026-11-20T00:04:05.678Z">November 20, 2026 at 00:04 UTC</time>',
    );
  });
});

describe("components", () => {
  test("escape their texts", () => {
    const evil = "<b>";
    const pieces = [
      facts([[evil, evil]]),
      moneyTable(evil, {
        lines: [{ label: evil, amountCents: 1 }],
        subtotalCents: 1,
        discountCents: 0,
        totalCents: 1,
      }),
      codeText(evil, evil),
      notice("info", evil, evil),
      timeline([{ at: new Date(0), text: evil }]),
      emptyState(evil, evil),
      verdictBanner("unknown", evil, evil),
      claimList([{ name: evil, state: "holds", why: evil }]),
    ];
    for (const piece of pieces) assert.doesNotMatch(render(piece), /<b>/);
  });

  test("omit facts without a value", () => {
    assert.doesNotMatch(render(facts([["Reference", null]])), /Reference/);
  });

  test("distinguish claims that hold, fail and were not checked by words and shape", () => {
    const shown = (["holds", "fails", "unchecked"] as const).map((state) =>
      render(claimList([{ name: "digest", state, why: "" }], () => "The bytes are the sealed ones")),
    );
    assert.match(shown[0] ?? "", /Passed<\/span> The bytes are the sealed ones/);
    assert.match(shown[1] ?? "", /Failed/);
    assert.match(shown[2] ?? "", /Not checked/);
    assert.equal(new Set(shown.map((text) => text.match(/<svg.*<\/svg>/)?.[0])).size, 3);
  });

  test("refuse a promise, which would be sent incomplete", () => {
    assert.throws(() => render(html`<p>${Promise.resolve("late")}</p>`), /promise/);
  });
});

describe("the page of a closing certificate", () => {
  const pageOf = async (count: number, options = {}) =>
    closingPage(assets, {
      record: await closingRecord(count, options),
      sealCertificates: "",
      baseUrl: "http://localhost",
      retention,
    });

  test("draws every version up to this one, and a broken link as broken", async () => {
    for (const count of [1, 2, 20]) {
      const page = await pageOf(count);
      assert.equal(page.match(/<circle cx="28"/g)?.length, count);
      assert.equal(page.match(/class="link"/g)?.length ?? 0, count - 1);
      assert.doesNotMatch(page, /class="link broken"/);
    }
    const page = await pageOf(3, { broken: true });
    assert.equal(page.match(/class="link broken"/g)?.length, 1);
    assert.match(page, /with a broken link/);
    assert.match(page, /This closing certificate failed/);
  });

  test("states the full coverage and its limits, in plain words, and escapes names", async () => {
    const page = await pageOf(2);
    for (const line of [...coverage.covers, ...coverage.doesNotCover]) {
      assert.notEqual(plainWords(line), line);
      assert.ok(page.includes(plainWords(line)), line);
    }
    assert.doesNotMatch(page, /<b>S/);
  });

  test("of a test says so, and never that it holds", async () => {
    const record = { ...(await closingRecord(1)), environment: "test" as const };
    const page = closingPage(assets, { record, sealCertificates: "", baseUrl: "http://localhost", retention });
    assert.match(page, /A test closing certificate/);
    assert.doesNotMatch(page, /This closing certificate passed every check/);
  });

  test("shows commands that print the stated hashes", needs("jq"), async () => {
    const record = await closingRecord(2);
    const [check] = closingChecks("http://localhost", closingCode);
    const command = check?.commands[0]?.replace(/^curl \S+ \S+ /, "cat ") ?? "";
    const answer = JSON.stringify({ manifest: JSON.parse(record.versions.at(-1)?.manifestText ?? "") });
    const printed = execFileSync("sh", ["-c", command], { input: answer, encoding: "utf8" });
    assert.equal(printed.split(" ")[0], record.versions.at(-1)?.manifestSha256);
  });
});
