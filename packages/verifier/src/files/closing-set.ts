import { createHash } from "node:crypto";
import { EvidenceError } from "@signsealship/evidence/errors";
import type { ManifestPassport } from "@signsealship/evidence/manifest";
import { parseManifest } from "@signsealship/evidence/manifest";
import { type ClosingVersion, readClosingCertificate, verifyClosing } from "@signsealship/evidence/seal";
import type { Context } from "../context.ts";
import { closingCommands } from "./closing-commands.ts";
import { type Check, checksOf, type Report } from "./report.ts";

/** A manifest or a certificate and where it comes from. */
export type ClosingPiece = { readonly path: string } & (
  | { readonly manifest: Uint8Array; readonly certificate?: never }
  | { readonly certificate: Uint8Array; readonly manifest?: never }
);

/** What a piece says of itself, before it is verified; null when it has no readable manifest. */
export function passportOf(piece: ClosingPiece): ManifestPassport | null {
  try {
    const bytes = piece.manifest ?? readClosingCertificate(piece.certificate).manifest;
    return bytes === null ? null : parseManifest(bytes).passport;
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

type Paths = { manifest?: string; certificate?: string };
type Paired = { readonly version: ClosingVersion; readonly paths: Paths };

/** Verifies manifests and certificates of one room together: a manifest and a certificate of one version are a pair. */
export async function verifyClosingSet(
  pieces: readonly ClosingPiece[],
  { trust, at, crypto }: Context,
  stated: readonly ClosingVersion[] = [],
): Promise<Report> {
  const pairs = paired(pieces);
  const versions = [...pairs.map(({ version }) => version), ...stated];
  const result = await verifyClosing({ versions, trust, at, crypto });
  const commands = new Map<string, string>();
  for (const [index, { paths }] of pairs.entries()) {
    const number = result.versions[index]?.version;
    const own = result.claims.filter(({ name }) => name.split(".")[1] === `v${number}`);
    for (const [name, command] of closingCommands(own, paths)) commands.set(name, command);
  }
  const test = result.versions.some(({ purpose }) => purpose?.environment === "test");
  const rooms = new Set(result.versions.flatMap(({ manifest }) => manifest?.passport.roomCode ?? []));
  const [roomCode] = rooms;
  return {
    verdict: result.verdict === "verified" && test ? "verified_test" : result.verdict,
    kind: versions.length === 1 && versions[0]?.certificate === undefined ? "manifest" : "closing_set",
    checks: [...sealFaults(result), ...checksOf(result.claims, commands)],
    facts: { ...(roomCode !== undefined && { room: roomCode }), versions: String(versions.length) },
  };
}

/** The claims that fail inside a certificate, which its own `.seal` claim sums up. */
function sealFaults({ versions }: Awaited<ReturnType<typeof verifyClosing>>): Check[] {
  return versions.flatMap(({ certificate, version }) =>
    checksOf(
      (certificate?.claims ?? [])
        .filter(
          ({ state, name }) => state === "fails" && name !== "seal_certificate_trusted" && name !== "seal_purpose",
        )
        .map((one) => ({ ...one, name: `certificate.v${version ?? "?"}.${one.name}` })),
    ),
  );
}

function paired(pieces: readonly ClosingPiece[]): Paired[] {
  const pairs: { version: ClosingVersion; paths: Paths; number: number | null; sha256?: string }[] = [];
  for (const piece of pieces) {
    if (piece.manifest === undefined) continue;
    const sha256 = createHash("sha256").update(piece.manifest).digest("hex");
    // The same file twice says nothing more; two different ones of one version do.
    if (pairs.some((pair) => pair.sha256 === sha256)) continue;
    const number = passportOf(piece)?.version ?? null;
    pairs.push({ version: { manifest: piece.manifest }, paths: { manifest: piece.path }, number, sha256 });
  }
  const certificates = new Set<string>();
  for (const piece of pieces) {
    if (piece.certificate === undefined) continue;
    const sha256 = createHash("sha256").update(piece.certificate).digest("hex");
    if (certificates.has(sha256)) continue;
    certificates.add(sha256);
    const number = passportOf(piece)?.version ?? null;
    const mate = pairs.find((pair) => number !== null && pair.number === number && !pair.version.certificate);
    if (mate === undefined) {
      pairs.push({ version: { certificate: piece.certificate }, paths: { certificate: piece.path }, number });
    } else {
      mate.version = { ...mate.version, certificate: piece.certificate };
      mate.paths.certificate = piece.path;
    }
  }
  return pairs;
}
