import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Manifest } from "@signsealship/evidence/manifest";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import type { Client } from "../rooms/rooms-service.ts";

export type Version = {
  version: number;
  verifyCode: string;
  verifyUrl: string;
  manifestSha256: string;
  prevManifestSha256: string | null;
  sealedSha256: string;
  createdAt: string;
};

export type Verification = {
  manifest: Manifest;
  manifestSha256: string;
  sealedSha256: string;
  version: number;
  prevManifestSha256: string | null;
  chainOk: boolean;
  branding: object | null;
  createdAt: string;
  environment: string;
  downloadUrl: string;
};

export const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

export const sealRoom = (client: Client, room: string): Promise<Version> =>
  client.ok<Version>("POST", `/api/rooms/${room}/passport`);

/** The result of the public verification, both parsed and as the received text. */
export async function verify(baseUrl: string, verifyCode: string): Promise<Verification & { text: string }> {
  const response = await fetch(`${baseUrl}/api/verify/room/${verifyCode}`);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return { ...(JSON.parse(text) as Verification), text };
}

export async function download(baseUrl: string, verifyCode: string): Promise<Buffer> {
  const response = await fetch(`${baseUrl}/api/verify/room/${verifyCode}/pdf`);
  assert.equal(response.status, 200);
  return Buffer.from(await response.arrayBuffer());
}

/** Writes a PDF to a temporary folder, where `work` can run other programs on it. */
export function withPdf<T>(
  pdf: Uint8Array,
  work: (run: (tool: string, ...args: string[]) => string, folder: string) => T,
): T {
  const folder = mkdtempSync(join(tmpdir(), "closing-"));
  try {
    writeFileSync(join(folder, "certificate.pdf"), pdf);
    const run = (tool: string, ...args: string[]) =>
      execFileSync(tool, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    return work(run, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The manifest that poppler extracts from a certificate. */
export const detached = (pdf: Uint8Array): Buffer =>
  withPdf(pdf, (run, folder) => {
    run("pdfdetach", "-saveall", "certificate.pdf");
    return readFileSync(join(folder, "manifest.json"));
  });

/** SHA-256 of the certificate that the service now seals with, as the service publishes it. */
export async function sealFingerprint(baseUrl: string, environment: "live" | "test" = "test"): Promise<string> {
  const pem = await (await fetch(`${baseUrl}/seal/certificate.pem`)).text();
  const all = parseCertificatesPem(pem);
  // The certificate of the live seal comes first.
  const own = environment === "live" ? all[0] : all.find(({ isTestSeals }) => isTestSeals);
  assert.ok(own);
  return new X509Certificate(own.der).fingerprint256.replaceAll(":", "").toLowerCase();
}

/** The text of a certificate as poppler reads it, without the direction marks that poppler adds. */
export const textOf = (pdf: Uint8Array): string =>
  withPdf(pdf, (run) => run("pdftotext", "-layout", "certificate.pdf", "-")).replace(/[\u202a-\u202e]/g, "");
