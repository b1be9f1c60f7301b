import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assertClaims,
  filesOf,
  type Outcome,
  type WholeCase,
  wholeCases,
  wholeFile,
} from "../../../../packages/evidence/test/whole-cases.ts";
import { checkFiles } from "../../../src/pages/verify/browser/check.ts";
import type { Outcome as Shown } from "../../../src/pages/verify/browser/outcome.ts";
import { bannerOf } from "../../../src/pages/verify/browser/outcome-banner.ts";

/** The verify page's result for one file, in the terms of the evidence format. */
function inTheFormat(shown: Shown): Outcome {
  if (shown.kind === "failed") return { verdict: "not_verified", claims: [] };
  const isTest = shown.verdict === "verified" && shown.purpose?.environment === "test";
  const environment = shown.purpose?.environment === "test" ? [["seal_environment", "unchecked"] as const] : [];
  const earlier = shown.kind === "proof" ? shown.earlier : [];
  const claims = [
    ...shown.claims.map(({ name, state }) => [name, state] as const),
    ...earlier.flatMap(({ claims: own }, index) =>
      own.map(({ name, state }) => [`earlier.${index + 1}.${name}`, state] as const),
    ),
    ...environment,
  ];
  return {
    verdict: isTest ? "verified_test" : shown.verdict,
    claims: claims.map(([claim, state]) => ({ claim, state })),
  };
}

async function shownOf(one: WholeCase, roles: readonly string[]): Promise<Outcome> {
  const [shown, another] = await outcomesOf(one, roles);
  assert.ok(shown);
  // For a custody certificate with its document, the page shows two cards.
  assert.equal(another !== undefined, roles.includes("document") && filesOf(one, "document").length > 0);
  return inTheFormat(shown);
}

async function outcomesOf(one: WholeCase, roles: readonly string[]): Promise<Shown[]> {
  const pem = (files: readonly string[]) => files.map((file) => new TextDecoder().decode(wholeFile(file))).join("");
  const isList = one.trust.every((file) => file.endsWith(".json"));
  const given = roles.flatMap((role) => filesOf(one, role));
  return checkFiles({
    files: given.map(({ path, bytes }) => ({ name: path, bytes })),
    config: { sealCertificates: isList ? pem(one.trust) : "", firm: null, proof: null, closing: null },
    trust: { seal: isList ? "" : pem(one.trust), timeStamping: pem(one.tsaTrust) },
    at: Date.parse(one.at),
    subtle: crypto.subtle,
  });
}

/** The color of the document's card, by the verdict of the document and its closing certificate together. */
const tones: Readonly<Record<string, string>> = {
  verified: "verified",
  verified_test: "unknown",
  unchecked: "unknown",
  not_verified: "refuted",
};

/**
 * Vectors whose files the page checks separately, and not as a set. The kind that the seal states makes the page treat
 * each file as an ordinary document.
 */
const judgedByItself = new Set([
  "a purpose of another kind",
  "a proof with a manifest attached",
  "an order's document with a manifest attached",
  "one line feed behind the certificate",
  "no JSON",
]);

for (const one of wholeCases) {
  if (one.kind === "sealed_pdf" && one.expected === undefined) {
    test(`the verify page, ${one.name}: ${one.verdict}`, async () => {
      const outcome = await shownOf(one, ["sealed"]);
      assertClaims(outcome, one);
      assert.equal(outcome.verdict, one.verdict);
    });
  }
  if (one.kind === "custody_set" && !judgedByItself.has(one.name)) {
    test(`the verify page, ${one.name}: ${one.verdict}`, async () => {
      const outcome = await shownOf(one, ["certificate", "document"]);
      assertClaims(outcome, one);
      assert.equal(outcome.verdict, one.verdict);
    });
  }
  if (one.kind === "room_document") {
    test(`the verify page, ${one.name}: ${tones[one.verdict]}`, async () => {
      const [closing, document] = await outcomesOf(one, ["certificate", "document"]);
      assert.ok(closing?.kind === "closing" && document?.kind === "proof");
      assert.equal(closing.verdict, "verified");
      assertClaims(inTheFormat(document), one);
      assert.equal(bannerOf(document).tone, tones[one.verdict], bannerOf(document).title);
    });
  }
  if (one.kind === "closing_set" && !judgedByItself.has(one.name)) {
    test(`the verify page, ${one.name}: ${one.verdict}`, async () => {
      const outcome = await shownOf(one, ["records", "manifests", "certificates"]);
      assertClaims(outcome, one);
      assert.equal(outcome.verdict, one.verdict);
    });
  }
}
