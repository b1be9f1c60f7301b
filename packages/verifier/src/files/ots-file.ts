import { createHash } from "node:crypto";
import { toHex } from "@signsealship/evidence/bytes";
import type { Claim } from "@signsealship/evidence/claim";
import { EvidenceError } from "@signsealship/evidence/errors";
import { parseDetached, verifyOts } from "@signsealship/evidence/ots";
import type { Context, NamedBytes } from "../context.ts";
import { otsCommands } from "./ots-commands.ts";
import { checksOf, type Report, type Verdict } from "./report.ts";
import { quoted } from "./shell.ts";

/**
 * Verifies an OpenTimestamps proof, alone or with the file that it covers.
 *
 * @param about the file that the proof should cover: its lowercase hex SHA-256, and its path if there is one. Null when
 * the file is unknown.
 */
export async function verifyOtsFile(
  { path, bytes }: NamedBytes,
  about: { readonly sha256: string; readonly path?: string } | null,
  { trust }: Context,
): Promise<Report> {
  const headers = trust.blockHeaders ?? new Map();
  const digest = about === null ? ownDigest(bytes) : Buffer.from(about.sha256, "hex");
  const claims = await verifyOts({ proof: bytes, digest: digest ?? new Uint8Array(32), headers });
  const shown: Claim[] = about === null ? claims.map(withoutDocument) : claims;
  const file = about?.path === undefined ? `-d ${toHex(digest ?? new Uint8Array(0))}` : `-f ${quoted(about.path)}`;
  const { info, bitcoin, pending } = otsCommands(path, file);
  const commands = new Map([
    ["ots.format", info],
    ["ots.digest", about?.path === undefined ? info : `sha256sum ${quoted(about.path)}`],
    ["ots.bitcoin", bitcoin],
    ["ots.pending", pending],
  ]);
  return {
    verdict: verdictOf(shown),
    kind: "ots_proof",
    checks: checksOf(shown, commands),
    facts: digest === null ? {} : { digest: toHex(digest) },
  };
}

/** The path and the SHA-256 of the file that a proof should cover. */
export function aboutFile({ path, bytes }: NamedBytes): { sha256: string; path: string } {
  return { path, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function ownDigest(bytes: Uint8Array): Uint8Array | null {
  try {
    const { fileHashOp, digest } = parseDetached(bytes);
    return fileHashOp === "sha256" ? digest : null;
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

function withoutDocument(one: Claim): Claim {
  if (one.name !== "ots.digest" || one.state !== "holds") return one;
  return { ...one, state: "unchecked", why: `${one.why} The file itself was not given (--doc FILE).` };
}

function verdictOf(claims: readonly Claim[]): Verdict {
  if (claims.some(({ state }) => state === "fails")) return "not_verified";
  const holds = (name: string) => claims.some((one) => one.name === name && one.state === "holds");
  return holds("ots.digest") && holds("ots.bitcoin") ? "verified" : "unchecked";
}
