import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { PDF, type Signer as PdfSigner } from "@libpdf/core";
import { createCmsSigner } from "../../service/src/evidence/seals/cms/cms.ts";
import { sealKeyOf } from "../../service/src/evidence/seals/keys/file-key.ts";
import { sealPdf } from "../../service/src/evidence/seals/pdf/seal-pdf.ts";
import { sealChainOf } from "./seal-chain.ts";

export type KeyKind = "RSA-3072" | "P-256";
export type Sealer = (pdf: Buffer) => Promise<unknown>;

const at = new Date("2026-01-15T12:00:00Z");

const newKey = (kind: KeyKind): KeyObject =>
  kind === "RSA-3072"
    ? generateKeyPairSync("rsa", { modulusLength: 3072 }).privateKey
    : generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

/** Three sealers with one key in one process: ours, the bare limit (hash the file, sign the hash), and @libpdf/core. */
export async function sealers(kind: KeyKind): Promise<{ ours: Sealer; limit: Sealer; libpdf: Sealer }> {
  const privateKey = newKey(kind);
  const key = sealKeyOf(privateKey, "bench");
  const chain = await sealChainOf(key, at.getTime());
  const signer = createCmsSigner({ key, chain });
  const reserve = signer.maxLength();
  const foreign: PdfSigner = {
    certificate: chain[0].der,
    keyType: kind === "P-256" ? "EC" : "RSA",
    signatureAlgorithm: kind === "P-256" ? "ECDSA" : "RSASSA-PKCS1-v1_5",
    sign: async (data) => sign("sha256", data, privateKey),
  };
  return {
    ours: (original) => sealPdf({ original, at, reserve, sign: async (place) => (await signer.sign(place)).cms() }),
    limit: async (pdf) => sign("sha256", createHash("sha256").update(pdf).digest(), privateKey),
    libpdf: async (pdf) => (await PDF.load(pdf)).sign({ signer: foreign, level: "B-B" }),
  };
}
