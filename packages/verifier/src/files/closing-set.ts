import { createHash } from "node:crypto";
import { EvidenceError } from "@signsealship/evidence/errors";
import type { ManifestPassport } from "@signsealship/evidence/manifest";
import { parseManifest } from "@signsealship/evidence/manifest";
import { parseRoomRecord, type RoomRecord, serviceChainClaim } from "@signsealship/evidence/records";
import { type ClosingVersion, readClosingCertificate, verifyClosing } from "@signsealship/evidence/seal";
import type { Context, NamedBytes } from "../context.ts";
import { closingCommands, manifestName } from "./closing-commands.ts";
import { type Check, check, checksOf, type Report } from "./report.ts";
import { quoted } from "./shell.ts";

/**
 * A file about a room: a manifest, a certificate, or a service's record of a version. `path` is its file path or URL.
 */
export type ClosingPiece = { readonly path: string } & (
  | { readonly manifest: Uint8Array }
  | { readonly certificate: Uint8Array }
  | { readonly record: RoomRecord }
);

/**
 * Makes a `ClosingPiece` from a service's record of one version, downloaded or read from a file.
 * @throws EvidenceError as `parseRoomRecord`
 */
export const roomRecordPiece = ({ path, bytes }: NamedBytes): ClosingPiece => ({
  path,
  record: parseRoomRecord(bytes),
});

/** The passport that a piece's manifest states, unverified; null when the piece has no readable manifest. */
export function passportOf(piece: ClosingPiece): ManifestPassport | null {
  try {
    const bytes = manifestIn(piece);
    return bytes === null ? null : parseManifest(bytes).passport;
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

/**
 * The unverified manifest of a piece; null for a certificate without one. @throws EvidenceError for an unreadable
 * certificate
 */
export function manifestIn(piece: ClosingPiece): Uint8Array | null {
  if ("record" in piece) return piece.record.manifest;
  return "manifest" in piece ? piece.manifest : readClosingCertificate(piece.certificate).manifest;
}

type Paths = { manifest?: string; certificate?: string };
type Pair = { version: ClosingVersion; readonly paths: Paths; readonly number: number | null; readonly key?: string };

/**
 * Verifies the manifests and certificates of one room together. The manifest and the certificate of the same version
 * are verified as a pair.
 */
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
  const records = recordChecks(pieces);
  const test = result.versions.some(({ purpose }) => purpose?.environment === "test");
  const rooms = new Set(result.versions.flatMap(({ manifest }) => manifest?.passport.roomCode ?? []));
  const [roomCode] = rooms;
  const report: Report = {
    verdict: result.verdict === "verified" && test ? "verified_test" : result.verdict,
    kind: kindOfSet(pieces, versions),
    // The order of the commands matters: those that create files come before those that read them.
    checks: [...records, ...sealFaults(result), ...checksOf(result.claims, commands)],
    facts: { ...(roomCode !== undefined && { room: roomCode }), versions: String(versions.length) },
  };
  return records.some(({ result: state }) => state === "fails") ? { ...report, verdict: "not_verified" } : report;
}

/**
 * The failed claims about each certificate's seal, except those about its trust and purpose. Of these faults, the claim
 * `certificate.vN.seal` states only the first.
 */
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

function kindOfSet(pieces: readonly ClosingPiece[], versions: readonly ClosingVersion[]): Report["kind"] {
  const [piece, another] = pieces;
  if (piece !== undefined && another === undefined && "record" in piece) return "room_record";
  return versions.length === 1 && versions[0]?.certificate === undefined ? "manifest" : "closing_set";
}

/**
 * Checks about each record itself: the record is readable, and the service's own verdict on the chain is positive.
 * Other claims compare the record's hashes.
 */
function recordChecks(pieces: readonly ClosingPiece[]): Check[] {
  return pieces.flatMap((piece) => {
    if (!("record" in piece)) return [];
    const get = /^https?:/.test(piece.path) ? `curl -sS ${quoted(piece.path)}` : `cat ${quoted(piece.path)}`;
    const command = `${get} | jq -Scaj .manifest > ${manifestName(piece.record.version)}`;
    const readable = check(
      "record_readable",
      "holds",
      `The record of version ${piece.record.version} can be read.`,
      command,
    );
    return [readable, ...checksOf([serviceChainClaim(piece.record)])].map((one) => ({ ...one, target: piece.path }));
  });
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/**
 * Pairs the manifest and the certificate of each version. Each record starts a pair, and so does each manifest that no
 * record contains. A certificate joins the first pair of its version that has no certificate yet. Without such a pair,
 * the certificate stays alone.
 */
function paired(pieces: readonly ClosingPiece[]): Pair[] {
  const pairs: Pair[] = [];
  const add = (pair: Pair) => {
    // Leaves out a file that is identical to an earlier file. Different files of the same version all stay.
    if (!pairs.some(({ key }) => key === pair.key)) pairs.push(pair);
  };
  for (const piece of pieces) {
    if (!("record" in piece)) continue;
    const { chainOk: _, ...version } = piece.record;
    const { manifest, manifestSha256, sealedSha256, version: number } = version;
    const key = [sha256(manifest), number, manifestSha256, sealedSha256].join();
    add({ version, paths: { manifest: manifestName(number) }, number, key });
  }
  for (const piece of pieces) {
    if (!("manifest" in piece)) continue;
    const key = sha256(piece.manifest);
    const record = pairs.find((pair) => pair.version.manifest !== undefined && sha256(pair.version.manifest) === key);
    if (record !== undefined) continue;
    const number = passportOf(piece)?.version ?? null;
    add({ version: { manifest: piece.manifest }, paths: { manifest: piece.path }, number, key });
  }
  const certificates = new Set<string>();
  for (const piece of pieces) {
    if (!("certificate" in piece) || certificates.has(sha256(piece.certificate))) continue;
    certificates.add(sha256(piece.certificate));
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
