import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { test } from "node:test";
import { mailWords } from "../../src/orders/fulfilment/mail-words.ts";
import { togetherWords } from "../../src/orders/fulfilment/together-words.ts";
import type { MailMoment } from "../../src/orders/order/order.ts";
import { statuses } from "../../src/pages/ui/words/en/statuses.ts";
import { order } from "../orders/fulfilment/mail-samples.ts";

/** Sentences that no page or mail may contain, each with the fact that the service can't know. */
const never: readonly (readonly [RegExp, string])[] = [
  [/\b(?:ready to (?:record|fund)|recordable)\b/i, "whether a county records a document"],
  [/\b(?:lender|bank) (?:has )?(?:approved|accepted|received|read)\b/i, "what a lender did"],
  [/\bapproved by (?:the|your) lender\b/i, "what a lender decided"],
  [/\b(?:recipient|receiver|client|signer) (?:has )?(?:read|received) (?:it|the document|your)\b/i, "who read a file"],
  [/\b(?:was|were|has been|have been) (?:received|read) by\b/i, "who read a file"],
  [
    /\b(?:loan|closing|order|deal) (?:is|was|has been) (?:funded|closed and funded)\b|\bclosed and funded\b/i,
    "funding",
  ],
  [/\b(?:sender|firm|client|agent) (?:was|were|has been) (?:told|informed|notified)\b/i, "whether a mail was accepted"],
  [/\bwe (?:told|informed|notified) (?:the|your) (?:sender|firm|client|agent)\b/i, "whether a mail was accepted"],
  [/\b(?:payer|client|firm) has the money back\b/i, "when a bank pays money out"],
  [/\ball (?:the )?documents are (?:signed|paid|sealed|complete)\b/i, "the state of each document by itself"],
  [
    /\b(?:legally binding everywhere|guaranteed (?:to be )?(?:valid|accepted)|will be accepted by)\b/i,
    "what others accept",
  ],
  [
    /\b(?:escrow|disbursement|wire instructions|closing disclosure)\b.*\b(?:is|are|was|were) (?:done|sent|paid)\b/i,
    "money of others",
  ],
];

/** The texts of a source file: everything except comments. */
const textsOf = (source: string): string =>
  source.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " ")).replace(/^\s*\/\/.*$/gm, "");

function assertNever(where: string, text: string): void {
  for (const [pattern, what] of never) {
    const found = pattern.exec(text);
    assert.equal(found?.[0] ?? null, null, `${where} says what the service does not know: ${what}`);
  }
}

test("no page, mail or message says what the service cannot know", async () => {
  const root = new URL("../../src/", import.meta.url);
  let files = 0;
  for await (const name of glob("**/*.ts", { cwd: root })) {
    assertNever(name, textsOf(readFileSync(new URL(name, root), "utf8")));
    files += 1;
  }
  assert.ok(files > 500, String(files));
  for (const wrong of ["The sender was told.", "All documents are signed.", "The payer has the money back."])
    assert.throws(() => assertNever("an example", wrong));
});

/** Words that state a fact, each with the mails (`MailMoment`) and the order statuses for which the fact is true. */
const facts: readonly (readonly [RegExp, readonly string[], readonly string[]])[] = [
  [/\b(?:has cleared|paid in full)\b/i, ["payment_received"], ["Paid"]],
  [/\bwas refunded\b|\bpayment refunded\b/i, ["refunded", "refunded_part"], ["Refunded"]],
  [/\breports\b/i, ["delivered"], []],
  // No mail and no status may use these words. A refund, and the mail about finished documents, are sent some time
  // after the status has changed.
  [/\b(?:we have sent|that we sent)\b/i, [], []],
  // No mail and no status may use these words, because some acts take place in person.
  [/\bonline notary\b/i, [], []],
  [/\b(?:has|was) (?:arrived|delivered)\b|\brecorded as delivered\b/i, ["delivered"], ["Delivered"]],
  [/\bmachine confirmed\b|\bhas confirmed every page\b/i, ["fax_delivered"], ["FaxPending", "FaxSent"]],
  [/\bfax delivered\b|\brecorded as faxed\b/i, ["fax_delivered"], ["FaxDelivered"]],
  [/\beverybody has signed\b|\beveryone has signed\b/i, ["signed"], ["EsignPending"]],
];

const wordsOf = (moment: MailMoment): string => {
  const about = { ...order, firm: order.firm.name };
  const alone = mailWords[moment](about);
  const together = togetherWords[moment]?.({ firm: about.firm, orders: [about, about] });
  return [alone.subject, ...alone.lines, together?.subject, ...(together?.lines ?? [])].join(" ");
};

test("a mail or a status says paid, refunded, delivered, faxed or signed only once it is so", () => {
  for (const [pattern, moments, reached] of facts) {
    const saying = (Object.keys(mailWords) as MailMoment[]).filter((moment) => pattern.test(wordsOf(moment)));
    assert.deepEqual(saying.toSorted(), moments.toSorted(), `mails that match ${pattern}`);
    // The words "once everyone has signed" are left out, because they state no fact.
    const shown = Object.entries(statuses).filter(([, { headline, summary, next }]) =>
      pattern.test([headline, summary, ...next].join(" ").replace(/\bonce everyone has signed\b/g, "")),
    );
    for (const [status] of shown) assert.ok(reached.includes(status), `${status} matches ${pattern}`);
  }
});
