import { buildManifest, manifestBytes } from "@signsealship/evidence/manifest";
import type { CertificateContent } from "../../../src/closing/closing-passports/certificate/certificate.ts";
import { sha256 } from "./seal-room.ts";

const hex = (seed: string) => sha256(seed);

/** The content of a closing certificate. @param labels the labels of the documents that it lists */
export function certificateContent(
  labels: (string | null)[],
  more: { roomName?: string; versions?: number } = {},
): CertificateContent {
  const { roomName = "12 Elm Street", versions = 1 } = more;
  const at = new Date("2026-03-04T05:06:07.089Z");
  const manifest = buildManifest({
    roomCode: hex("room").slice(0, 40),
    roomName,
    reference: "FILE-2207",
    version: versions,
    prevManifestSha256: versions === 1 ? null : hex(`${versions - 1}`),
    generatedAt: at,
    documents: labels.map((label, index) => ({
      orderCode: `${index.toString(16).padStart(2, "0")}${hex(`order ${index}`).slice(0, 38)}`,
      label,
      status: "EsignPending",
      originalSha256: hex(`original ${index}`),
      sealedSha256: index % 2 === 0 ? hex(`sealed ${index}`) : null,
    })),
  });
  const bytes = manifestBytes(manifest);
  return {
    manifest,
    manifestBytes: bytes,
    manifestSha256: sha256(bytes),
    environment: "live",
    firm: { name: "Acme Title & Escrow LLC", brandName: "Acme Title & Escrow", accentColor: "#8a1c4a", logo: null },
    details: Object.fromEntries(
      manifest.documents.map(({ orderCode }, index) => [
        orderCode,
        index % 2 === 1
          ? { title: "FILE-2207/b", pages: null, signers: [], takenIn: [] }
          : {
              title: "FILE-2207/a",
              pages: 12,
              signers: [
                { name: "Dana Reyes", signedAt: "2026-03-03T10:20:30.000Z" },
                { name: "李小龍", signedAt: null },
              ],
              takenIn: [],
            },
      ]),
    ),
    issuer: {
      url: "https://sign.example.com",
      certificate: "CN=SignSealShip seal sign.example.com",
      fingerprint: hex("certificate"),
    },
    timeStamp: {
      name: "Example TSA 1",
      authority: "https://tsa.example.com/tsr",
      at: new Date("2026-03-04T05:06:08Z"),
      token: Buffer.from("token"),
    },
    checkpoint: `sign.example.com/log/live\n1207\n${Buffer.alloc(32, 5).toString("base64")}\n\n— a signature\n`,
    verifyCode: "mfrggzdfmztwq2lknnwg23tpoa",
    verifyUrl: "https://sign.example.com/v/room/mfrggzdfmztwq2lknnwg23tpoa",
    chain: Array.from({ length: versions }, (_, index) => ({
      version: index + 1,
      manifestSha256: index + 1 === versions ? sha256(bytes) : hex(`${index + 1}`),
      createdAt: at,
    })),
  };
}
