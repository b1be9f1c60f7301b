import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { inTurn } from "@signsealship/testing/inputs/fuzz";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { verifyProof } from "../../../src/seal/verify-proof.ts";
import { memoizedCrypto } from "../../node-crypto.ts";
import { testSigner, tokenOver } from "../../signer.ts";
import type { Permission } from "./attacks/attack.ts";
import { attacks } from "./attacks/attacks.ts";
import { asBytes, formDocument, metadata, signForm } from "./document.ts";
import { honest } from "./honest/honest.ts";
import { askPyHanko, type Operation } from "./oracles/pyhanko-oracle.ts";

const { test } = testsNeeding("pyhanko");

const signer = testSigner("stranger");
const tsa = testSigner("tsa");
const crypto = memoizedCrypto();
const stamp = (signed: Uint8Array) => tokenOver(signed, tsa, Date.UTC(2026, 0, 2));

/**
 * For each signature of a file: true if it permits the later changes. Bytes after the last signature ensure that it is
 * not treated as a seal.
 */
async function ours(pdf: Uint8Array): Promise<boolean[]> {
  const bytes = Uint8Array.from([...pdf, 0x0a]);
  const trust = { sealAnchors: [], tsaAnchors: [] };
  const { earlierSignatures } = await verifyProof(bytes, trust, Date.UTC(2026, 5, 1), { crypto });
  return earlierSignatures.map(({ claims }) =>
    claims.some(({ name, state }) => name === "later_changes_permitted" && state === "holds"),
  );
}

function signed(
  permission: Permission,
  one: Pick<(typeof attacks)[number], "prepared" | "preparedRevision" | "signature">,
) {
  const original = (one.preparedRevision ?? ((pdf: string) => pdf))(formDocument(one.prepared));
  const certify = permission === "approval" ? {} : { certify: permission };
  // The capacity for the signature value is small, because pyHanko reads the value's digits one by one.
  return { original, signed: signForm(original, { signer, reserve: 1500, ...certify, ...one.signature }) };
}

/** Honest changes that pyHanko refuses and this verifier permits, each with the reason why pyHanko refuses it. */
const KINDER: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "a field filled that had no appearance": "it knows no /M in a field, which says when it was filled",
    "a field's indirect value rewritten": "it follows a value to one field alone by its path in the form",
    "a field with rich text filled": "it knows no /RV, the same value with its styles",
    "a list's choice": "it knows no /I and /TI, by which readers keep the chosen line and the first that shows",
    "a radio button set: the group has the value, its kids neither type nor name":
      "it knows kids with a name alone, and ISO 32000-2 section 12.7.5.2.4 has none",
    "a field that is computed from others, though it is read-only":
      "it takes the order of calculation (/CO) for a use of its own of the field",
    "a signature field and an order of tabs": "it knows no /Tabs, by which nothing is drawn",
    "a signature field and its tag": "it knows no tags",
    nothing: "its reader refuses an empty section",
    "an object in a number that was never used": "its reader refuses what nothing leads to",
    "free numbers, freed again": "its reader refuses a number freed twice",
    "a field filled in a hybrid section": "its reader refuses hybrid sections behind a signature",
  }),
);

test("is as strict as pyHanko on every manipulation, and as kind on every honest change", async () => {
  const made = [
    // pyHanko has no rules for certifications of level 3. So each attack is tried after a certification of level 2, or
    // after an approval signature.
    ...attacks.flatMap((attack) => {
      const permission = attack.forbidden.includes(2) ? 2 : "approval";
      const { original, signed: base } = signed(permission, attack);
      return attack.kind === "dressed" ? [] : [{ ...attack, permission, pdf: attack.make(base, original) }];
    }),
    ...honest.flatMap((update, index) =>
      inTurn([1, 2, "approval"] as const, index).map((permission) => {
        const pdf = update.make(signed(permission, update).signed, signer, stamp);
        return { ...update, permission, pdf };
      }),
    ),
  ];
  const answers = askPyHanko(made.map(({ pdf }) => ({ judge: asBytes(pdf) })));
  for (const [index, one] of made.entries()) {
    const theirs = answers[index]?.signatures?.find(({ field }) => /^Signature4[6-9]$/.test(field))?.permitted ?? false;
    const permits = (await ours(asBytes(one.pdf)))[0] ?? false;
    const what = `${one.name} (${one.permission})`;
    if (permits && !KINDER.has(one.name)) assert.ok(theirs, `pyHanko refuses: ${what}`);
    if (theirs && "permitted" in one && one.permission !== 1) assert.ok(permits, `pyHanko permits: ${what}`);
  }
});

const UPDATES: readonly (readonly Operation[])[] = [
  [["fill", "Amount", "250"]],
  [
    ["fill", "Name", "Bob"],
    ["fill", "Amount", "300"],
  ],
  [["sign", "Countersign"]],
  [["approve", "Later"]],
  [["approve split", "Later"]],
  [["approve visibly", "Later"]],
  [["store"]],
  [["stamp"]],
  [["store"], ["stamp"]],
  [["fill", "Amount", "250"], ["approve", "Later"], ["store"], ["stamp"]],
  [
    ["lock", "Later", ["Name"]],
    ["fill", "Amount", "250"],
  ],
  [
    ["lock", "Later", ["Amount"]],
    ["fill", "Amount", "250"],
  ],
  [
    ["lock all", "Later"],
    ["fill", "Amount", "250"],
  ],
  [["note", "/Text"]],
  [["note", "/Highlight"]],
  [["content", "0 0 m"]],
  [["font"]],
  [["identical"]],
];

test("judges files that pyHanko made as pyHanko judges them", async () => {
  const rdf = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"></rdf:RDF>';
  const form = asBytes(formDocument({ metadata: metadata(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${rdf}</x:xmpmeta>`) }));
  const bases: readonly Operation[][] = [[["certify", 1]], [["certify", 2]], [["approve", "First"]]];
  const recipes = UPDATES.flatMap((update, index) => inTurn(bases, index).map((base) => [...base, ...update]));
  // pyHanko itself refuses to sign a file whose certification forbids the new signature.
  const files = askPyHanko(recipes.map((make) => ({ make, pdf: form }))).flatMap(({ pdf }, index) =>
    pdf === undefined ? [] : [{ pdf, recipe: recipes[index] }],
  );
  assert.ok(files.length > (3 / 4) * recipes.length, `${files.length} files`);
  const answers = askPyHanko(files.map(({ pdf }) => ({ judge: pdf })));
  const different: unknown[] = [];
  for (const [index, { pdf, recipe }] of files.entries()) {
    const theirs = answers[index]?.signatures?.map(({ permitted }) => permitted);
    const own = await ours(pdf);
    if (!isDeepStrictEqual(own, theirs)) different.push({ recipe, own, ...answers[index] });
  }
  assert.deepEqual(different, []);
});
