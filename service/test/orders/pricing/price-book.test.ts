import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lineWith } from "./fixtures.ts";
import { asBook, bookText, refusal, refuses } from "./refusals.ts";

describe("a price book is refused at the line of the mistake", () => {
  const reject = (from: string, to: string, at: string, message: string) =>
    refuses(asBook, bookText, from, to, at, message);
  const whole = "fees.NotaryFee must be an integer of cents >= 0";
  for (const wrong of ["-1", "25.00", "1e3", "0x10", '"2500"', "2_500", "~", "", "[2500]", "*none", "-0"]) {
    reject("NotaryFee: 2500", `NotaryFee: ${wrong}`, "NotaryFee:", whole);
  }
  reject("NotaryFee: 2500", "NotaryFee: 10000001", "NotaryFee:", "fees.NotaryFee must be at most 10000000 cents");
  reject(
    "NotaryFee: 2500",
    "NotaryFe: 2500",
    "NotaryFe:",
    "fees.NotaryFe is not a known key (known: WorkflowFee, NotaryFee, TechFee, RushFee, ExtraSignerFee, ExtraSealFee, " +
      "WitnessFee, ScanbackFee, StorageFee, ServiceAdjustment, ShippingHandlingFee, PrintMailFee, FaxFee)",
  );
  reject("  FaxFee: 900\n", "", "fees:", "fees must have the key FaxFee");
  reject("FaxFee: 900", "FaxFee: 900\n  FaxFee: 800", "FaxFee: 800", "fees.FaxFee is given twice");
  reject("  FaxFee: 900", "\tFaxFee: 900", "\tFaxFee", "Tabs are not allowed as indentation");
  reject("ProOffice: 10\n", "ProOffice: 10.005\n", "ProOffice", percentage("tierDiscountPercent.ProOffice"));
  reject("ProOffice: 10\n", "ProOffice: 101\n", "ProOffice", percentage("tierDiscountPercent.ProOffice"));
  reject("  trial: 0\n", "", "tierDiscountPercent:", "tierDiscountPercent must have the key trial");
  reject("state: TX", "state: PR", "state: PR", "business.state must be the two-letter code of a US state or DC");
  reject('"78701"', "78701", "postal:", 'business.postal must be a ZIP code in quotes, such as "78701"');
  reject(
    "city: Austin",
    "city: 12",
    "city:",
    "business.city must be text of 1 to 120 characters on one line (in quotes if it looks like a number)",
  );
  reject("RELEASE-3:", "release:", "release:", named("release"));
  reject("RELEASE-3:", "__proto__:", "__proto__:", named("__proto__"));
  const both = "discountCodes.RELEASE-3 must have either amountCents or percentOfWorkflowFee";
  reject("amountCents: 300", "amountCents: 300\n    percentOfWorkflowFee: 5", "RELEASE-3:", both);
  reject("    amountCents: 300\n", "", "RELEASE-3:", both);
  reject("amountCents: 300", "amountCents: 0", "amountCents: 0", amount("discountCodes.RELEASE-3.amountCents", 1));
  reject("upToGrams: 454\n", "upToGrams: 226\n", "upToGrams: 226", after("postage.steps[1].upToGrams"));
  reject("1225, 1305]", "1225]", "1225]", "postage.steps[0].zoneCents must be a list of 8 amounts, one for each zone");
  reject("1225, 1305]", "1225, 13.05]", "13.05", amount("postage.steps[0].zoneCents[7]", 0));
  reject("sheetGrams: 4.54", "sheetGrams: heavy", "heavy", "postage.sheetGrams must be a number from 1 to 100");
  reject("sheetGrams: 4.54", "sheetGrams: .nan", ".nan", "postage.sheetGrams must be a number from 1 to 100");

  test("an empty file, a list, two documents and an unknown tag", () => {
    assert.equal(refusal(asBook, "").message, "price-book.yaml:1: the file must be a mapping of names to values");
    assert.equal(refusal(asBook, "# a\n- b").line, 2);
    assert.equal(refusal(asBook, `${bookText}---\na: 1\n`).line, lineWith(bookText, "4536") + 2);
    assert.equal(refusal(asBook, bookText.replace("Austin", "!secret Austin")).line, lineWith(bookText, "Austin"));
    assert.match(
      refusal(asBook, bookText.slice(0, bookText.indexOf("\npostage:"))).message,
      /must have the key postage$/,
    );
  });

  function percentage(path: string) {
    return `${path} must be a percentage from 0 to 100 with at most two decimals`;
  }
  function named(code: string) {
    return `discountCodes.${code} must be named in capitals and digits with single hyphens`;
  }
  function amount(path: string, min: number) {
    return `${path} must be an integer of cents >= ${min}`;
  }
  function after(path: string) {
    return `${path} must be greater than in the step before`;
  }
});
