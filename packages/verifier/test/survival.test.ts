import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { verifyProof } from "@signsealship/evidence/seal";
import { createWebCrypto } from "@signsealship/evidence/webcrypto";
import { fuzzRuns } from "@signsealship/testing/inputs/fuzz";
import { mutate, randomFrom } from "../../evidence/test/mutate.ts";
import { wholeCases, wholeFile } from "../../evidence/test/whole-cases.ts";
import type { Context } from "../src/context.ts";
import { verifyFile } from "../src/files/verify-file.ts";
import { verifyUnits } from "../src/folder/pool.ts";
import { createNodeCrypto } from "../src/node-crypto.ts";
import { failing, folderWith, pemOf, proofPdf, seal, stranger, tsa, verify } from "./fixtures.ts";

const verdicts = ["verified", "verified_test", "intact", "unchecked", "unsigned", "not_a_pdf", "not_verified"];

const context: Context = {
  trust: { sealAnchors: [seal.certificate], tsaAnchors: [tsa.certificate], blockHeaders: new Map() },
  at: Date.UTC(2026, 10, 24),
  crypto: createNodeCrypto(),
  doc: null,
  trustPath: null,
  tsaTrustPath: null,
};

const vectors = new URL("../../evidence/vectors/", import.meta.url);

/** The files in one folder of the vectors. */
const vectorFiles = (folder: string) =>
  readdirSync(new URL(folder, vectors)).map((name) => ({
    path: name,
    bytes: Uint8Array.from(readFileSync(new URL(`${folder}${name}`, vectors))),
  }));

/** Each file of the vectors in whole, rfc3161 and ots/accept once, and a PDF whose seal has a time stamp. */
function artifacts(): { path: string; bytes: Uint8Array }[] {
  const names = new Set(wholeCases.flatMap(({ files }) => Object.values(files).flat()));
  const stamped = { path: "stamped.pdf", bytes: proofPdf() };
  const others = ["rfc3161/", "ots/accept/"].flatMap(vectorFiles);
  return [...[...names].map((path) => ({ path, bytes: wholeFile(path) })), ...others, stamped];
}

/** Changes one digit of a hexadecimal /Contents, which may damage a certificate's key. */
function changedDigit(bytes: Uint8Array, random: (below: number) => number): Uint8Array {
  const text = Buffer.from(bytes).toString("latin1");
  const starts = [...text.matchAll(/\/Contents ?<([0-9a-f]{64,})/g)];
  const found = starts[random(Math.max(1, starts.length))];
  if (found === undefined) return mutate(bytes, random);
  const digits = found[1] ?? "";
  const length = digits.replace(/0+$/, "").length;
  const copy = Uint8Array.from(bytes);
  copy[found.index + found[0].length - digits.length + random(length)] = "0123456789abcdef".charCodeAt(random(16));
  return copy;
}

const damages = [
  changedDigit,
  changedDigit,
  mutate,
  (bytes: Uint8Array, random: (below: number) => number) => bytes.subarray(0, random(bytes.length)),
] as const;

test("gives a verdict for every damaged file", async () => {
  const files = artifacts();
  const random = randomFrom(20261124);
  for (let run = 0; run < fuzzRuns(20_000); run++) {
    const file = files[random(files.length)];
    const damage = damages[random(damages.length)];
    if (file === undefined || damage === undefined) continue;
    const bytes = damage(file.bytes, random);
    const { verdict } = await verifyFile({ path: file.path, bytes }, context).catch((error: unknown) => {
      throw new Error(`run ${run}, ${file.path}`, { cause: error });
    });
    assert.ok(verdicts.includes(verdict), `${file.path}: ${verdict}`);
  }
});

/**
 * Changes the last digit of a public key in the file. On P-256 it is then not a point of the curve. Null without that
 * key.
 */
function offCurve(bytes: Uint8Array, spki: Uint8Array): Uint8Array | null {
  const digits = Buffer.from(spki).toString("hex");
  const at = Buffer.from(bytes).toString("latin1").indexOf(digits);
  if (at < 0) return null;
  const copy = Uint8Array.from(bytes);
  const last = at + digits.length - 1;
  copy[last] = copy[last] === 0x30 ? 0x31 : 0x30;
  return copy;
}

test("refuses a seal with an included key that is not a point of its curve, with both ports", async () => {
  const web = createWebCrypto(globalThis.crypto.subtle);
  const tried = { own: 0, chain: 0, token: 0 };
  for (const { path, bytes } of artifacts().filter((one) => one.path.endsWith(".pdf"))) {
    const good = await verifyProof(bytes, context.trust, context.at, context);
    const pades = good.seal?.pades;
    if (!pades?.valid) continue;
    const stampers = pades.timeStamps.flatMap(({ certificate }) => certificate ?? []);
    for (const one of new Set([...pades.certificates, ...stampers])) {
      if (one.publicKey.type !== "ec") continue;
      const changed = offCurve(bytes, one.spki);
      if (changed === null) continue;
      for (const crypto of [context.crypto, web]) {
        const { verdict } = await verifyProof(changed, context.trust, context.at, { crypto });
        assert.equal(verdict, "not_verified", path);
      }
      tried[stampers.includes(one) ? "token" : one === pades.certificate ? "own" : "chain"]++;
    }
  }
  assert.ok(tried.own > 0 && tried.chain > 0 && tried.token > 0, JSON.stringify(tried));
});

test("gives each file of a folder its verdict, whatever the other files contain", async (t) => {
  const good = proofPdf();
  const broken = offCurve(good, tsa.certificate.spki);
  assert.ok(broken);
  const folder = folderWith(t, { "good.pdf": good, "broken.pdf": broken });
  const trust = folderWith(t, { "trust.pem": pemOf(seal), "tsa.pem": pemOf(tsa) });
  const trusting = ["--trust", `${trust}/trust.pem`, "--tsa-trust", `${trust}/tsa.pem`];
  const { code, json } = await verify([folder, ...trusting]);
  assert.equal(code, 1);
  assert.deepEqual([json.facts.verified, json.facts.not_verified], ["1", "1"]);
  const alone = await verify([`${folder}/broken.pdf`, ...trusting]);
  assert.deepEqual([alone.code, alone.json.verdict], [1, "not_verified"]);
  assert.deepEqual(failing(alone.json), ["time_stamp_valid"]);
});

test("names the file on which the verifier itself fails, and continues with the others", async (t) => {
  const folder = folderWith(t, { "a.pdf": proofPdf(), "b.pdf": proofPdf() });
  const units = ["a.pdf", "b.pdf"].map((name) => ({ type: "file", path: `${folder}/${name}`, ots: null }) as const);
  let calls = 0;
  const crypto = {
    ...context.crypto,
    verify: (input: Parameters<typeof context.crypto.verify>[0]) => {
      if (calls++ === 0) throw new TypeError("a fault");
      return context.crypto.verify(input);
    },
  };
  const found: string[] = [];
  await verifyUnits(units, { ...context, crypto }, 1, (index, report) => {
    found[index] = `${report?.verdict}: ${report?.checks[0]?.detail}`;
  });
  assert.match(found[0] ?? "", /^not_verified: The verifier failed on this file: a fault\.$/);
  assert.match(found[1] ?? "", /^verified: /);
});

test("gives every file of a folder a verdict when workers die", async (t) => {
  const names = Array.from({ length: 24 }, (_, index) => `${index}.pdf`);
  const folder = folderWith(t, Object.fromEntries(names.map((name) => [name, proofPdf()])));
  const units = names.map((name) => ({ type: "file", path: `${folder}/${name}`, ots: null }) as const);
  // A worker can't read this certificate, so it dies when it starts.
  const unreadable = { ...stranger.certificate, der: Uint8Array.of(1) };
  const trust = { ...context.trust, sealAnchors: [unreadable] };
  const found: (string | undefined)[] = [];
  await verifyUnits(units, { ...context, trust }, 2, (index, report) => {
    found[index] = report?.verdict;
  });
  assert.deepEqual(
    found,
    names.map(() => "not_verified"),
  );
});
