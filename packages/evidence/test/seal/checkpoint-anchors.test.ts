import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { formatLogProof, sealEntry } from "../../src/log/log.ts";
import { writeDetached } from "../../src/ots/write.ts";
import { verifyProof } from "../../src/seal/verify-proof.ts";
import { createWebCrypto } from "../../src/webcrypto.ts";
import { hashOfLeaf, inclusionOf, rootOf, sampleLog } from "../log/sample-tree.ts";
import { testSigner, tokenOver } from "../signer.ts";
import { signPdf } from "./signed-pdf.ts";

const crypto = createWebCrypto(globalThis.crypto.subtle);
const hour = 3600_000;
const stampedAt = Date.UTC(2026, 0, 2);
/** The instant of verification: years after the seal's certificate expired. */
const at = Date.UTC(2040, 0, 1);
const seal = testSigner("seal", Date.UTC(2025, 0, 1), Date.UTC(2036, 0, 1));
const tsa = testSigner("tsa");
const stranger = testSigner("tsa");
const bytes = signPdf(Uint8Array.from(makePdf({ text: "Contract" })), { signer: seal });
const sealedSha256 = createHash("sha256").update(bytes).digest("hex");

const index = 5;
const leavesWith = (hex: string) =>
  Array.from({ length: 11 }, (_, i) =>
    hashOfLeaf(Buffer.from(sealEntry(i === index ? hex : String(i).padStart(64, "0")))),
  );
const log = await sampleLog("example.com/log/live", 7);
const checkpointOf = (leaves: readonly Uint8Array[]) => log.signed(leaves.length, rootOf(leaves));
const proofOf = (leaves: readonly Uint8Array[], checkpoint = checkpointOf(leaves)) =>
  Buffer.from(formatLogProof({ extra: null, index, hashes: inclusionOf(leaves, index), checkpoint }));
const leaves = leavesWith(sealedSha256);
const checkpoint = checkpointOf(leaves);
const logProof = proofOf(leaves);

const token = (message: string, signer = tsa, genTime = stampedAt) => tokenOver(Buffer.from(message), signer, genTime);
const height = 900_000;
const otsOf = (digest: Uint8Array): Uint8Array =>
  writeDetached({ fileHashOp: "sha256", digest, timestamp: [{ attestation: { kind: "bitcoin", height } }] });
const header = (root: Uint8Array): Uint8Array => {
  const out = new Uint8Array(80);
  out.set(root, 36);
  new DataView(out.buffer).setUint32(68, stampedAt / 1000, true);
  return out;
};

type Given = { tokens?: Uint8Array[]; ots?: Uint8Array; proof?: Uint8Array | null; blocks?: Uint8Array[] };
async function judged({ tokens = [], ots, proof = logProof, blocks = [] }: Given) {
  const result = await verifyProof(
    bytes,
    {
      sealAnchors: [seal.certificate],
      tsaAnchors: [tsa.certificate],
      blockHeaders: new Map(blocks.map((one) => [height, one])),
    },
    at,
    { crypto, detached: { ...(proof && { logProof: proof }), checkpoint: { tokens, ...(ots && { ots }) } } },
  );
  const claim = (name: string) => result.claims.find((one) => one.name === name);
  return { verdict: result.verdict, time: result.seal?.provenTime ?? null, claim };
}

test("a trusted stamp over the checkpoint proves the time of a seal that the checkpoint covers", async () => {
  const later = token(checkpoint, tsa, stampedAt + hour);
  const { verdict, time, claim } = await judged({ tokens: [later, token(checkpoint), token(checkpoint, stranger)] });
  assert.deepEqual([verdict, time, claim("log_checkpoint_stamped")?.state], ["verified", stampedAt, "holds"]);
  assert.match(claim("log_checkpoint_stamped")?.why ?? "", /^2 of 3 time stamps .* the first of 2026-01-02T00:00/);
  assert.equal(claim("log_checkpoint_anchored"), undefined);
});

test("the stamp is over the note with only the log's signature, however many witnesses cosigned", async () => {
  const cosigned = `${checkpoint}${checkpoint.split("\n").at(-2)?.replace("example.com/log/live", "witness.example")}\n`;
  const proof = proofOf(leaves, cosigned);
  assert.equal((await judged({ tokens: [token(checkpoint)], proof })).claim("log_checkpoint_stamped")?.state, "holds");
  assert.equal((await judged({ tokens: [token(cosigned)], proof })).claim("log_checkpoint_stamped")?.state, "fails");
});

test("a stamp of an untrusted authority proves no time, and lowers no verdict", async () => {
  const { time, claim } = await judged({ tokens: [token(checkpoint, stranger)] });
  assert.deepEqual([time, claim("log_checkpoint_stamped")?.state], [null, "unchecked"]);
  assert.match(claim("log_checkpoint_stamped")?.why ?? "", /no authority of them is trusted/);
});

test("fails for a stamp of another checkpoint and for an unreadable one, even next to a good one", async () => {
  for (const bad of [token(checkpoint.replace("\n11\n", "\n12\n")), new Uint8Array(3), new Uint8Array(0)]) {
    const { verdict, time, claim } = await judged({ tokens: [token(checkpoint), bad] });
    assert.deepEqual([verdict, time, claim("log_checkpoint_stamped")?.state], ["not_verified", null, "fails"]);
  }
  const { claim } = await judged({ tokens: [new Uint8Array(3)] });
  assert.equal(claim("log_checkpoint_stamped")?.why, "A time stamp of the checkpoint can't be read.");
});

test("a block that commits to the root proves a time two hours after the block's own", async () => {
  const root = rootOf(leaves);
  const { verdict, time, claim } = await judged({ ots: otsOf(root), blocks: [header(root)] });
  assert.deepEqual(
    [verdict, time, claim("log_checkpoint_anchored")?.state],
    ["verified", stampedAt + 2 * hour, "holds"],
  );
  const both = await judged({ ots: otsOf(root), blocks: [header(root)], tokens: [token(checkpoint)] });
  assert.equal(both.time, stampedAt);
});

test("leaves the anchor unchecked without a header, and fails for another root, another block and broken bytes", async () => {
  const root = rootOf(leaves);
  const without = await judged({ ots: otsOf(root) });
  assert.deepEqual([without.time, without.claim("log_checkpoint_anchored")?.state], [null, "unchecked"]);
  assert.match(without.claim("log_checkpoint_anchored")?.why ?? "", /for this state of the log/);
  const other = rootOf(leavesWith("ab".repeat(32)));
  for (const given of [
    { ots: otsOf(other), blocks: [header(other)] },
    { ots: otsOf(root), blocks: [header(other)] },
    { ots: new Uint8Array(40), blocks: [header(root)] },
  ]) {
    const { verdict, time, claim } = await judged(given);
    assert.deepEqual([verdict, time, claim("log_checkpoint_anchored")?.state], ["not_verified", null, "fails"]);
  }
});

test("proves no time without a log proof, or when the proof is not of this seal", async () => {
  const root = rootOf(leaves);
  const given = { tokens: [token(checkpoint)], ots: otsOf(root), blocks: [header(root)] };
  for (const proof of [null, Buffer.from("c2sp.org/tlog-proof@v1\n")]) {
    const { time, claim } = await judged({ ...given, proof });
    assert.deepEqual(
      [time, claim("log_checkpoint_stamped")?.state, claim("log_checkpoint_anchored")?.state],
      [null, "unchecked", "unchecked"],
    );
  }
  const foreign = leavesWith("ab".repeat(32));
  const { verdict, time, claim } = await judged({ tokens: [token(checkpointOf(foreign))], proof: proofOf(foreign) });
  assert.deepEqual([verdict, time, claim("log_checkpoint_stamped")?.state], ["not_verified", null, "holds"]);
});
