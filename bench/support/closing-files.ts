import { createHash, randomBytes } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { buildManifest, type ManifestInput, manifestBytes, parseManifest } from "@signsealship/evidence/manifest";
import { roomDocumentClaim, sealReasons, verifyProof } from "@signsealship/evidence/seal";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { snapshot } from "../../packages/evidence/test/manifest/manifests.ts";
import { sealedFor } from "../../packages/evidence/test/seal/closing-pdf.ts";
import { testSigner } from "../../packages/evidence/test/signer.ts";
import { zipFile } from "../../service/src/evidence/proof-passports/proof-passports.ts";
import { openBlobs } from "../../service/src/kernel/platform/blobs/blobs.ts";
import { folderBackend } from "../../service/src/kernel/platform/blobs/folder.ts";
import { systemClock } from "../../service/src/kernel/platform/clock.ts";
import { openSecretsKey } from "../../service/src/kernel/platform/secrets.ts";
import { atMost, type Result } from "../result.ts";
import { timesOf } from "./times.ts";

const mebibyte = 1024 * 1024;

/** Measures the verification of a large document of a closing, and the memory for a large zip. */
export async function closingFiles(): Promise<Result[]> {
  return [
    atMost("closing: verify 20 MB that continues a listed file", await verifying(), [1500], "ms", 1),
    atMost("closing: zip of 256 MiB, memory above the base", [await zipMemory()], [64], "MiB", 1),
  ];
}

async function verifying(): Promise<number[]> {
  const signer = testSigner("seal");
  const signed = sealedFor(sealReasons.signed.live, { signer }, Uint8Array.from(makePdf({ bytes: 20_000_000 })));
  const notarized = sealedFor(sealReasons.notarized.live, { signer }, signed);
  const sealedSha256 = createHash("sha256").update(signed).digest("hex");
  const deed = {
    orderCode: "a".repeat(40),
    label: "Deed",
    status: "Completed",
    originalSha256: "1".repeat(64),
    sealedSha256,
  };
  const documents: ManifestInput["documents"] = [deed];
  const manifest = parseManifest(manifestBytes(buildManifest(snapshot({ documents }))));
  const trust = { sealAnchors: [signer.certificate], tsaAnchors: [] };
  return timesOf(5, async () => {
    const proof = await verifyProof(notarized, trust, Date.UTC(2026, 0, 15), { crypto: createNodeCrypto() });
    const claim = await roomDocumentClaim(notarized, proof, { manifests: [manifest], unnamed: "It is not named." });
    if (claim.state !== "holds") throw new Error(claim.why);
  });
}

async function zipMemory(): Promise<number> {
  const folder = temporaryFolder();
  const blobs = openBlobs(
    folderBackend(`${folder.path}/blobs`),
    await openSecretsKey(`file:${folder.path}/secrets`),
    systemClock,
  );
  const plain = randomBytes(32 * mebibyte);
  const use = { kind: "document", owner: "a", sha256: createHash("sha256").update(plain).digest("hex") } as const;
  const key = await blobs.put(plain, use);
  const file = await blobs.open(key, use, "firm bench");
  if (!file) throw new Error("no file");
  const entries = Array.from({ length: 8 }, (_, n) => ({ name: `Documents/${n}.pdf`, bytes: file }));
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as () => void;
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed + process.memoryUsage().external;
  };
  const before = used();
  let [most, pieces] = [0, 0];
  for await (const _ of await zipFile({ memory: blobs.memory, holder: "firm bench" }, entries).body())
    if (pieces++ % 128 === 0) most = Math.max(most, used() - before);
  folder.remove();
  return most / mebibyte;
}
