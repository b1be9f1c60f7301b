import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { sealReasons } from "@signsealship/evidence/seal";
import { encodePem } from "@signsealship/evidence/x509";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { chainOf } from "../../evidence/test/manifest/manifests.ts";
import { closingCertificate, sealedFor } from "../../evidence/test/seal/closing-pdf.ts";
import type { SignOptions } from "../../evidence/test/seal/signed-pdf.ts";
import { type TestSigner, testSigner, tokenOver } from "../../evidence/test/signer.ts";
import { titleOf } from "../src/cli/claim-titles.ts";
import { runVerify, type VerifyIo } from "../src/cli/run.ts";

export const seal = testSigner("seal");
export const tsa = testSigner("tsa");
export const stranger = testSigner("stranger");
const at = Date.UTC(2026, 5, 1);
export const stampedAt = Date.UTC(2026, 0, 2);
export const original = Uint8Array.from(makePdf({ text: "Contract" }));
export const hex = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
export const pemOf = ({ certificate }: TestSigner): string => encodePem(certificate.der, "CERTIFICATE");
const stamp = (signature: Uint8Array): Uint8Array => tokenOver(signature, tsa, stampedAt);

/** A document sealed as the service seals a proof passport: with that /Reason, and with a time stamp. */
export const proofPdf = (options: Partial<SignOptions> = {}, document?: Uint8Array): Uint8Array =>
  sealedFor(sealReasons.proof.live, { signer: seal, stamp, ...options }, document ?? original);

/** A closing certificate sealed by the test's key. */
export const certificateOf = (manifest: Uint8Array, options: Partial<SignOptions> = {}, reason?: string): Uint8Array =>
  closingCertificate(manifest, { signer: seal, ...options }, reason);

export { chainOf };

/** Version 1 of a room's closing passport: its manifest, its certificate, and the service's record of it. */
export async function roomRecord() {
  const [v1] = await chainOf(1);
  if (v1 === undefined) throw new Error("no version");
  const certificate = certificateOf(v1.bytes);
  const manifest: unknown = JSON.parse(new TextDecoder().decode(v1.bytes));
  const { manifestSha256 } = v1;
  const record = { manifest, manifestSha256, sealedSha256: hex(certificate), version: 1, chainOk: true };
  return { manifest: v1.bytes, certificate, record };
}

/** A new temporary folder with these files, removed after the test. */
export function folderWith(t: TestContext, files: Readonly<Record<string, Uint8Array | string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "verifier-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  return folder;
}

export type JsonReport = {
  readonly verdict: string;
  readonly kind: string;
  readonly checks: readonly {
    readonly claim: string;
    readonly result: string;
    readonly detail: string;
    readonly command?: string;
    readonly target?: string;
  }[];
  readonly facts: Readonly<Record<string, string>>;
  readonly error?: string;
};

/** Runs the command; returns its exit code, its text and its JSON document. */
export async function verify(
  argv: readonly string[],
  io: Partial<VerifyIo> = {},
): Promise<{ code: number; text: string; errors: string; json: JsonReport }> {
  const run = async (more: readonly string[]) => {
    let out = "";
    let err = "";
    const code = await runVerify([...argv, ...more], {
      out: (text) => (out += text),
      err: (text) => (err += text),
      outIsTty: false,
      errIsTty: false,
      now: () => at,
      fetch: () => Promise.reject(new Error("no network in this test")),
      trustedByDefault: [],
      ...io,
    });
    return { code, out, err };
  };
  const plain = await run([]);
  const json = await run(["--json"]);
  if (plain.code !== json.code) throw new Error("the exit code depends on --json");
  const report = JSON.parse(json.out) as JsonReport;
  const untitled = report.checks?.find(({ claim }) => titleOf(claim) === claim);
  if (untitled !== undefined) throw new Error(`the claim ${untitled.claim} has no title`);
  return { code: plain.code, text: plain.out, errors: plain.err, json: report };
}

/** The results by claim. If several checks have the same claim, a failure counts, and otherwise the last result. */
export function results({ checks }: JsonReport): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { claim, result } of checks) if (found[claim] !== "fails") found[claim] = result;
  return found;
}

export const failing = ({ checks }: JsonReport): string[] =>
  checks.filter(({ result }) => result === "fails").map(({ claim }) => claim);
