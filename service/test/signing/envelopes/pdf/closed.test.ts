import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type SealReason, sealReasons, verifyProof } from "@signsealship/evidence/seal";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { judgedByDss } from "@signsealship/testing/tools/dss";
import { needs } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import {
  askPyHanko,
  type Operation,
} from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { appendRevision, bodyOf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import type { SealLock } from "../../../../src/evidence/seals/pdf/objects.ts";
import { createSealer } from "../../../../src/evidence/seals/sealer.ts";
import { systemRandom } from "../../../../src/kernel/platform/random.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import { createPreflight } from "../../../../src/signing/envelopes/open-envelopes.ts";
import type { PlannedField } from "../../../../src/signing/envelopes/pdf/fields.ts";
import { mutoolVerdict, pdfsig, qpdfAccepts, run } from "../../../evidence/seals/pdf/oracles.ts";
import { memoryKey, sampleCheckpoint, selfSigned } from "../../../evidence/seals/signers.ts";
import { openForm } from "./made-forms.ts";
import { openSigning } from "./signing.ts";

const folder = mkdtempSync(join(tmpdir(), "closed-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const key = memoryKey("p-256");
const certificate = await selfSigned(key, Date.now());
const sealDocument = createSealer({
  workers: inlineWorkers,
  random: systemRandom,
  identity: { key, chain: [certificate], chainPem: "" },
  clock: () => new Date(),
  stamp: null,
  newestCheckpoint: () => sampleCheckpoint,
});
const sealed = async (bytes: Buffer, reason: SealReason, locks?: SealLock) =>
  (await sealDocument({ bytes, reason, ...(locks && { locks }) })).bytes;

const signing = await openSigning();

const place = (y: number, height = 40) => ({ x: 300, y, width: 150, height });
const planned: PlannedField[] = [
  { kind: "signature", signer: 1, page: 0, place: place(100) },
  { kind: "date", signer: 1, page: 0, place: place(150, 18) },
  { kind: "text", signer: 1, page: 0, place: place(170, 18), required: false },
  { kind: "signature", signer: 2, page: 0, place: place(200) },
  { kind: "text", signer: 2, page: 0, place: place(250, 18) },
];

/** A form that two people signed. Signer 1 left the optional fields empty. */
async function signedForm(isNotarized: boolean, form = openForm()) {
  const { bytes, fields } = await signing.prepare(form, planned, ["Jane", "Juan"], { isNotarized });
  const first = await signing.act(bytes, fields, 1, { name: "Jane", values: { date: "2026-01-15" } });
  return { prepared: bytes, signed: await signing.act(first, fields, 2, { name: "Juan", values: { text: "hi" } }) };
}

const byPyHanko = (pdf: Buffer, ...make: Operation[]): Buffer => {
  const [answer] = askPyHanko([{ make, pdf }]);
  assert.ok(answer?.pdf, JSON.stringify(answer));
  return Buffer.from(answer.pdf);
};

function edited(pdf: Buffer, object: number, from: RegExp, to: string): Buffer {
  const text = pdf.toString("latin1");
  const body = bodyOf(text, object);
  assert.match(body, from);
  return Buffer.from(appendRevision(text, [[object, body.replace(from, to)]]), "latin1");
}

/** The ways in which a document can continue after its signers have signed. */
const ways: readonly { name: string; isNotarized: boolean; after: (signed: Buffer) => Promise<Buffer> }[] = [
  {
    name: "signed",
    isNotarized: false,
    after: (signed) => sealed(signed, sealReasons.signed.test, "document"),
  },
  {
    name: "notarized",
    isNotarized: true,
    async after(signed) {
      const first = await sealed(signed, sealReasons.signed.test, "fields");
      const byNotary = byPyHanko(first, ["approve visibly", "Notary"]);
      return sealed(byNotary, sealReasons.notarized.test, "document");
    },
  },
];

const judge = async (bytes: Buffer) =>
  verifyProof(bytes, { sealAnchors: [certificate], tsaAnchors: [] }, Date.now(), { crypto: createNodeCrypto() });

for (const { name, isNotarized, after: finish } of ways)
  describe(`a form that was ${name}`, needs("pyhanko", "poppler", "mupdf", "qpdf"), () => {
    let finished: Buffer;
    before(async () => {
      finished = await finish((await signedForm(isNotarized)).signed);
    });

    test("keeps every signature valid for each reader, also after a proof seal and an archival time stamp", async () => {
      const proof = await sealed(finished, sealReasons.proof.test);
      const archived = byPyHanko(proof, ["store"], ["stamp"]);
      for (const [step, bytes, stamps] of [
        ["finished", finished, 0],
        ["proof", proof, 0],
        ["archived", archived, 1],
      ] as const) {
        const [answer] = askPyHanko([{ judge: bytes }]);
        assert.ok(
          answer?.signatures?.every(({ permitted }) => permitted),
          `${step}: ${JSON.stringify(answer)}`,
        );
        const path = join(folder, `${name}-${step}.pdf`);
        writeFileSync(path, bytes);
        // pdfsig reports the empty signature field as an invalid signature, and does not verify document time stamps.
        const valid = (await pdfsig(path)).filter(({ valid }) => valid);
        assert.equal(valid.length, (answer?.signatures?.length ?? 0) - stamps, step);
        assert.ok(await qpdfAccepts(path), step);
        if (stamps === 0) assert.match(await mutoolVerdict(path), /unchanged since signing/);
      }
      const { verdict, earlierSignatures } = await judge(proof);
      assert.equal(verdict, "verified");
      for (const { claims } of earlierSignatures)
        assert.ok(
          claims.every(({ state }) => state === "holds"),
          JSON.stringify(claims),
        );
    });

    const edits: readonly [string, number, RegExp, string][] = [
      ["a text", 20, /\/V \(open\)/, "/V (other)"],
      ["a box", 22, /\/V \/Off \/AS \/Off/, "/V /On /AS /On"],
      ["a choice", 23, /\/V \(A\)/, "/V (B)"],
      ["a text in a group", 25, /\/V \(kid\)/, "/V (other)"],
      ["a text with two widgets", 26, /\/V \(two\)/, "/V (three)"],
      ["the text of a button", 32, /\/AP << \/N 47 0 R >>/, "/AP << /N 40 0 R >>"],
    ];
    for (const [what, object, from, to] of edits)
      test(`is refused by pyHanko and by us when ${what} of a field without a signer is edited afterwards`, async () => {
        const changed = edited(finished, object, from, to);
        const [answer] = askPyHanko([{ judge: changed }]);
        const last = answer?.signatures?.at(-1);
        assert.equal(last?.permitted, false, JSON.stringify(answer));
        const { verdict, claims } = await judge(changed);
        assert.equal(verdict, "not_verified");
        const respected = claims.filter(({ name: each }) => each === "certification_respected");
        assert.ok(
          respected.some(({ state }) => state === "fails"),
          JSON.stringify(claims),
        );
      });

    test("is refused by pyHanko when a visible signature is added, and can't be sealed then", async () => {
      const covered = byPyHanko(finished, ["approve visibly", "Jane Doe"]);
      const [answer] = askPyHanko([{ judge: covered }]);
      assert.equal(answer?.signatures?.at(-2)?.permitted, false, JSON.stringify(answer));
      await assert.rejects(sealed(covered, sealReasons.proof.test), /level 2|sealed as finished/);
    });

    test("is refused as the document of another order to sign", async () => {
      const trySigning = createPreflight(inlineWorkers);
      const order = { holder: "firm", sha256: "0".repeat(64), signers: ["Ada"], fields: null };
      await assert.rejects(trySigning({ ...order, bytes: finished }), /is finished: a seal of this service closed it/);
    });
  });

// Java takes seconds to start, so this test runs only with FUZZ=full or FUZZ=long.
if (repeats(1, 0) === 1)
  test(
    "EU DSS accepts every signature after a notary, a proof seal and an archival time stamp",
    needs("dss", "pyhanko"),
    async () => {
      const paths: string[] = [];
      for (const { name, isNotarized, after: finish } of ways) {
        const finished = await finish((await signedForm(isNotarized)).signed);
        const archived = byPyHanko(await sealed(finished, sealReasons.proof.test), ["store"], ["stamp"]);
        const path = join(folder, `${name}-dss.pdf`);
        writeFileSync(path, archived);
        paths.push(path);
      }
      const judged = judgedByDss(paths);
      // Two acts, a seal and a proof seal; for a notarized document also the notary's signature and seal.
      assert.deepEqual(
        paths.map((path) => judged.filter((one) => one.path === path).length),
        [4, 6],
      );
      assert.deepEqual(
        judged.filter(({ verdict, indication }) => verdict !== "good" || indication === "TOTAL_FAILED"),
        [],
      );
    },
  );

test("fields that belong to nobody are read-only before the first signer sees them", async () => {
  const { prepared } = await signedForm(false);
  const text = prepared.toString("latin1");
  for (const object of [20, 21, 22, 25, 26, 32]) assert.match(bodyOf(text, object), /\/Ff +\d*[13579]\b/, `${object}`);
  assert.match(bodyOf(text, 23), /\/Ff +131073\b/);
  assert.match(bodyOf(text, 29), /\/Ff +49153\b/);
  assert.doesNotMatch(bodyOf(text, 33), /\/Ff/);
  for (const object of [20, 23, 25, 27, 28]) assert.match(bodyOf(text, object), /\/AS \/N/, `${object}`);
});

test(
  "readers draw a field with one drawing in the same way, with and without a state",
  needs("mupdf", "poppler"),
  async () => {
    const { prepared } = await signedForm(false);
    const draw = async (name: string, bytes: Buffer) => {
      const path = join(folder, name);
      writeFileSync(path, bytes);
      await run("pdftoppm", ["-r", "50", "-singlefile", path, `${path}-poppler`]);
      await run("mutool", ["draw", "-q", "-r", "50", "-o", `${path}-mupdf.ppm`, path]);
      return [`${path}-poppler.ppm`, `${path}-mupdf.ppm`].map((file) => readFileSync(file));
    };
    const stateless = prepared.toString("latin1").replaceAll("/AS /N", "      ").replaceAll("/AS/N", "     ");
    assert.notEqual(stateless, prepared.toString("latin1"));
    assert.deepEqual(await draw("stated.pdf", prepared), await draw("stateless.pdf", Buffer.from(stateless, "latin1")));
  },
);

test("an act allows only filling in and signing, unless a notary signs after it", async () => {
  for (const isNotarized of [false, true]) {
    const { signed } = await signedForm(isNotarized);
    const locks = signed.toString("latin1").match(/\/SigFieldLock.*?>>/g) ?? [];
    assert.equal(locks.length, 4, "of two fields, prepared and signed");
    for (const lock of locks) assert.equal(lock.endsWith("/P 2>>"), !isNotarized, lock);
  }
});

test(
  "a document that was prepared before seals had locks is finished as it began, and every signature stays valid",
  needs("pyhanko"),
  async () => {
    const { bytes, fields } = await signing.prepare(openForm(), planned, ["Jane", "Juan"]);
    // Removes two entries that an earlier release didn't write: /AS of a field with one drawing, and /P of a lock.
    const plain = Buffer.from(
      bytes
        .toString("latin1")
        .replaceAll("/P 2>>", "    >>")
        .replaceAll("/AS/N", "     ")
        .replaceAll("/AS /N", "      "),
      "latin1",
    );
    const first = await signing.act(plain, fields, 1, { name: "Jane", values: { date: "2026-01-15" } });
    const second = await signing.act(first, fields, 2, { name: "Juan", values: { text: "hi" } });
    const finished = await sealed(second, sealReasons.signed.test, "document");
    const archived = byPyHanko(await sealed(finished, sealReasons.proof.test), ["store"], ["stamp"]);
    const [answer] = askPyHanko([{ judge: archived }]);
    assert.ok(
      answer?.signatures?.every(({ permitted }) => permitted),
      JSON.stringify(answer),
    );
    assert.equal((await judge(finished)).verdict, "verified");
  },
);

test("a seal without a lock is written as before", async () => {
  const bytes = await sealed(makePdf(), sealReasons.proof.test);
  assert.doesNotMatch(bytes.toString("latin1"), /\/Lock|\/Reference/);
});
