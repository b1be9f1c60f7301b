import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { toHex } from "../src/bytes.ts";
import { manifestBytes, manifestSha256 } from "../src/manifest/build.ts";
import { canonicalJson } from "../src/manifest/canonical-json.ts";
import { verifyChain } from "../src/manifest/chain.ts";
import { parseManifest } from "../src/manifest/validate.ts";
import { parseDetached } from "../src/ots/parse.ts";
import { commitments } from "../src/ots/verify.ts";
import { writeDetached } from "../src/ots/write.ts";
import type { VectorCheck } from "./vector-cases.ts";

const folder = new URL("../vectors/", import.meta.url);
const read = (path: string): Uint8Array => new Uint8Array(readFileSync(new URL(path, folder)));
const readJson = (path: string) => JSON.parse(new TextDecoder().decode(read(path)));
/** The names of a folder's files, without their extensions. */
export const namesIn = (path: string) => readdirSync(new URL(path, folder)).map((file) => file.replace(/\.\w+$/, ""));

type OtsIndex = {
  readonly accept: Readonly<Record<string, readonly (readonly [string, string, string | number])[]>>;
  readonly reject: Readonly<Record<string, { readonly code: string }>>;
};
export const ots: OtsIndex = readJson("ots/index.json");
export const manifests: {
  readonly roomCode: string;
  readonly chain: readonly string[];
  readonly reject: Record<string, string>;
} = readJson("manifest/index.json");

async function runAccepted(name: string, expected: readonly (readonly [string, string, string | number])[]) {
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
}

async function runChainOfManifests() {
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
}

function runRefusedManifest(name: string, member: string) {
  const fault =
    member === "json" ? { code: "json" } : { code: "manifest", message: `not a closing manifest: ${member}` };
  assert.throws(() => parseManifest(read(`manifest/reject/${name}.json`)), fault);
}

/** The test vectors for OpenTimestamps proofs and manifests. */
export const plainChecks = (): VectorCheck[] => [
  ...Object.entries(ots.accept).map(([name, expected]) => ({
    name: `reads the proof ${name}, finds what it commits to and writes it back`,
    run: () => runAccepted(name, expected),
  })),
  ...Object.entries(ots.reject).map(([name, { code }]) => ({
    name: `refuses the proof ${name}`,
    run: () => assert.throws(() => parseDetached(read(`ots/reject/${name}.ots`)), { name: "EvidenceError", code }),
  })),
  { name: "the chain that another program wrote holds in every claim, and has its hashes", run: runChainOfManifests },
  ...Object.entries(manifests.reject).map(([name, member]) => ({
    name: `refuses the manifest ${name}`,
    run: () => runRefusedManifest(name, member),
  })),
  ...namesIn("manifest/canonical/").map((name) => ({
    name: `writes the canonical JSON of ${name} as Python does`,
    run: () => {
      const { value, text } = readJson(`manifest/canonical/${name}.json`);
      assert.equal(canonicalJson(value), text);
    },
  })),
];
