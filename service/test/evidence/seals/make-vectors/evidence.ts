import { createHash } from "node:crypto";
import { writeDetached } from "@signsealship/evidence/ots";
import { document, stamped } from "./sealing.ts";
import { sealedAt, stamp, stampedAt, trustFiles } from "./signers.ts";

export const sha256 = (...chunks: readonly Uint8Array[]): Buffer => {
  const hash = createHash("sha256");
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest();
};
export const hexOf = (bytes: Uint8Array): string => sha256(bytes).toString("hex");

const NONCE = Buffer.from("4f5325a2eea854f82965b02ebadaa6b2", "hex");
export const HEIGHT = 930_000;

/**
 * An OpenTimestamps proof of a digest in a Bitcoin block, and the header of that block. @param time the block's time,
 * in seconds since 1970
 */
export function confirmedProof(digest: Uint8Array, time = 0x695fab29) {
  const root = sha256(digest, NONCE);
  const seconds = Buffer.alloc(4);
  seconds.writeUInt32LE(time);
  const header = `02000000${"00".repeat(32)}${root.toString("hex")}${seconds.toString("hex")}ffff001d1dac2b7c`;
  const proof = writeDetached({
    fileHashOp: "sha256",
    digest,
    timestamp: [
      {
        op: { op: "append", arg: NONCE },
        next: [
          {
            op: { op: "sha256" },
            next: [
              { attestation: { kind: "pending", uri: "https://calendar.example" } },
              { attestation: { kind: "bitcoin", height: HEIGHT } },
            ],
          },
        ],
      },
    ],
  });
  return { proof, headers: { [HEIGHT]: header } };
}

export const verifyCode = "abcdefghijklmnopqrstuvwxyz";

/** The evidence of one proof passport, in the service's format. */
export async function evidenceOf(text = "Contract") {
  const original = document(text);
  let token: Uint8Array = new Uint8Array(0);
  const pdf = await stamped(original, { stamp: (signature) => (token = stamp(signature)) });
  const { proof, headers } = confirmedProof(sha256(pdf));
  const record = {
    format: 1,
    verifyCode,
    verifyUrl: `https://seal.example/api/passport/verify/${verifyCode}`,
    environment: "live",
    status: "sealed",
    docSha256: hexOf(original),
    sealedSha256: hexOf(pdf),
    sealedAtUtc: sealedAt.toISOString(),
    timestamps: {
      rfc3161: { authority: "https://tsa.example", timestampedAtUtc: new Date(stampedAt).toISOString() },
      openTimestamps: {
        calendar: "https://calendar.example",
        submittedAtUtc: sealedAt.toISOString(),
        status: "confirmed",
      },
    },
  };
  return { original, pdf, token, proof, headers, record, certificates: Buffer.from(trustFiles["trust/seal.pem"]) };
}

export const asJson = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
