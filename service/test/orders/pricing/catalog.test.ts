import { describe } from "node:test";
import { asCatalog, asStates, asZip3, catalogText, refuses, statesText, zip3Text } from "./refusals.ts";

describe("a catalog is refused at the line of the mistake", () => {
  const reject = (from: string, to: string, at: string, message: string) =>
    refuses(asCatalog, catalogText, from, to, at, message);
  for (const slug of ["Affidavit", "two--hyphens", "-a", "a b", "12", "a".repeat(101)]) {
    reject(
      "slug: affidavit",
      `slug: ${slug}`,
      `slug: ${slug}`,
      "documents[0].slug must be lowercase words joined by hyphens",
    );
  }
  reject(
    "slug: quitclaim-deed",
    "slug: affidavit # again",
    "# again",
    "documents[1].slug must be unique (affidavit is taken)",
  );
  reject("sign: true", "sign: yes", "sign: yes", "documents[0].sign must be true or false");
  reject("    notarize: true\n", "", "slug: affidavit", "documents[0] must have the key notarize");
  reject(
    "title: General affidavit",
    "title: General affidavit\n    price: 5",
    "price: 5",
    "documents[0].price is not a known key (known: slug, title, sign, notarize, addOns, discountCode, esignExcluded, signingNote)",
  );
  reject(
    "type: RushFee",
    "type: WorkflowFee",
    "type: WorkflowFee",
    "documents[9].addOns[0].type must be one of RushFee, ExtraSignerFee, ExtraSealFee, WitnessFee, ScanbackFee, StorageFee, ServiceAdjustment",
  );
  reject(
    "type: RushFee",
    "type: WitnessFee  ",
    "WitnessFee  ",
    "documents[9].addOns[0].type WitnessFee needs a document with notarize: true",
  );
  reject(
    "title: General affidavit",
    "title: Last will\n    esignExcluded: 15 USC 7003(a)(1)",
    "sign: true",
    "documents[0].sign must be false for a document with esignExcluded",
  );
  const note = "signingNote: { text: Ask counsel, source: 15 USC 7021 }";
  reject(
    "title: Copy of a recorded document",
    `title: Copy of a recorded document\n    ${note}`,
    "{ text: Ask",
    "documents[12].signingNote needs a document with sign: true",
  );
  reject(
    "title: General affidavit",
    "title: General affidavit\n    signingNote: { text: Ask counsel }",
    "{ text: Ask",
    "documents[0].signingNote must have the key source",
  );
  for (const quantity of ["0", "100", "1.5", "2.0"]) {
    reject(
      "WitnessFee, quantity: 2",
      `WitnessFee, quantity: ${quantity}`,
      `quantity: ${quantity} `,
      "documents[2].addOns[0].quantity must be an integer from 1 to 99",
    );
  }
  reject(
    "discountCode: RELEASE-3",
    "discountCode: RELEASE-4",
    "RELEASE-4",
    "documents[5].discountCode must be a discount code of the price book (RELEASE-4 is not one)",
  );
  reject(
    "discountCode: RELEASE-3",
    "discountCode: toString",
    "toString",
    "documents[5].discountCode must be a discount code of the price book (toString is not one)",
  );
});

describe("the lists of states and of ZIP areas are refused at the line of the mistake", () => {
  const state = "must be the two-letter code of a US state or territory";
  refuses(asStates, statesText, "- MS", "- ms", "- ms", `notRecognized[1] ${state}`);
  refuses(asStates, statesText, "- MS", "- XX", "- XX", `notRecognized[1] ${state}`);
  refuses(
    asStates,
    statesText,
    "- SC",
    "- GA # twice",
    "# twice",
    "notRecognized[2] must be unique (GA is listed twice)",
  );
  refuses(
    asStates,
    statesText,
    "notRecognized:",
    "blocked:",
    "blocked:",
    "blocked is not a known key (known: notRecognized)",
  );

  const named = "must be named by three digits, or by two of them as in 100-102";
  refuses(asZip3, zip3Text, '"005": [', '"05": [', '"05"', `05 ${named}`);
  refuses(asZip3, zip3Text, '"005": [', '"005-004": [', '"005-004"', `005-004 ${named}`);
  refuses(asZip3, zip3Text, '"012": [', '"011": [', '"011"', "011 must come after the range above it");
  const shape = "012 must be a list of state, latitude, longitude";
  refuses(asZip3, zip3Text, '"012": [MA, ', '"012": [', '"012"', shape);
  refuses(asZip3, zip3Text, '"012": [MA, ', '"012": [MA, 1, ', '"012"', shape);
  const code = "must be the two-letter code of a US state or DC";
  refuses(asZip3, zip3Text, '"012": [MA', '"012": [PR', '"012"', `012[0] ${code}`);
  refuses(asZip3, zip3Text, '"012": [MA, ', '"012": [MA, -', '"012"', "012[1] must be a number from 15 to 75");
});
