import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { toHex } from "../src/bytes.ts";
import { manifestBytes, manifestSha256 } from "../src/manifest/build.ts";
import { canonicalJson } from "../src/manifest/canonical-json.ts";
import { verifyChain } from "../src/manifest/chain.ts";
import { parseManifest } from "../src/manifest/validate.ts";
import { parseDetached } from "../src/ots/parse.ts";
import { commitments } from "../src/ots/walk.ts";
import { writeDetached } from "../src/ots/write.ts";

const folder = new URL("../vectors/", import.meta.url);
const read = (path: string): Uint8Array => new Uint8Array(readFileSync(new URL(path, folder)));
const readJson = (path: string) => JSON.parse(new TextDecoder().decode(read(path)));
const names = (path: string) => readdirSync(new URL(path, folder)).map((file) => file.replace(/\.\w+$/, ""));

type OtsIndex = {
  readonly accept: Readonly<Record<string, readonly (readonly [string, string, string | number])[]>>;
  readonly reject: Readonly<Record<string, { readonly code: string }>>;
};
const ots: OtsIndex = readJson("ots/index.json");
const manifests: {
  readonly roomCode: string;
  readonly chain: readonly string[];
  readonly reject: Record<string, string>;
} = readJson("manifest/index.json");

test("the indexes name every vector file and no other", () => {
  assert.deepEqual(names("ots/accept/").toSorted(), Object.keys(ots.accept).toSorted());
  assert.deepEqual(names("ots/reject/").toSorted(), Object.keys(ots.reject).toSorted());
  assert.deepEqual(names("manifest/reject/").toSorted(), Object.keys(manifests.reject).toSorted());
  assert.equal(names("manifest/chain/").length, manifests.chain.length);
});

for (const [name, expected] of Object.entries(ots.accept)) {
  test(`reads the proof ${name}, finds what it commits to and writes it back`, async () => {
    const bytes = read(`ots/accept/${name}.ots`);
    const proof = parseDetached(bytes);
    assert.equal(toHex(writeDetached(proof)), toHex(bytes));
    const found = (await commitments(proof)).map(({ message, attestation }) => {
      if (attestation.kind === "pending") return [toHex(message), "pending", attestation.uri];
      if (attestation.kind === "unknown") return [toHex(message), attestation.tag, toHex(attestation.payload)];
      return [toHex(message), attestation.kind, attestation.height];
    });
    const sorted = (list: readonly (readonly unknown[])[]) => list.map((item) => item.join(" ")).toSorted();
    assert.deepEqual(sorted(found), sorted(expected));
  });
}

for (const [name, { code }] of Object.entries(ots.reject)) {
  test(`refuses the proof ${name}`, () => {
    assert.throws(() => parseDetached(read(`ots/reject/${name}.ots`)), { name: "EvidenceError", code });
  });
}

test("the chain that another program wrote holds in every claim, and has its hashes", async () => {
  const versions = manifests.chain.map((sha256, i) => ({
    version: i + 1,
    bytes: read(`manifest/chain/v${i + 1}.json`),
    manifestSha256: sha256,
  }));
  const claims = await verifyChain({ versions, roomCode: manifests.roomCode });
  assert.deepEqual(
    claims.filter(({ state }) => state !== "holds"),
    [],
  );
  for (const { bytes, manifestSha256: stated } of versions) {
    assert.equal(toHex(manifestBytes(parseManifest(bytes))), toHex(bytes));
    assert.equal(await manifestSha256(parseManifest(bytes)), stated);
  }
});

for (const [name, member] of Object.entries(manifests.reject)) {
  test(`refuses the manifest ${name}`, () => {
    const fault =
      member === "json" ? { code: "json" } : { code: "manifest", message: `not a closing manifest: ${member}` };
    assert.throws(() => parseManifest(read(`manifest/reject/${name}.json`)), fault);
  });
}

for (const name of names("manifest/canonical/")) {
  test(`writes the canonical JSON of ${name} as Python does`, () => {
    const { value, text } = readJson(`manifest/canonical/${name}.json`);
    assert.equal(canonicalJson(value), text);
  });
}
