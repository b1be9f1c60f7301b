import { equalBytes } from "../bytes.ts";
import { type Claim, claim } from "../claim.ts";
import { isSha256Hex, sha256Hex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import { manifestBytes } from "./build.ts";
import { type Manifest, manifestLimits } from "./schema.ts";
import { parseManifest } from "./validate.ts";

/** One passport version, as published or stored. */
export type ChainVersion = {
  /** The version number in the version's record; without a record, the number in the manifest. */
  readonly version: number;
  /** The manifest as received. */
  readonly bytes: Uint8Array;
  /**
   * The manifest's SHA-256 as stated in the version's record (evidence-format.md, section 10.4). Absent if the manifest
   * was given without its record.
   */
  readonly manifestSha256?: string;
};

/**
 * The most manifests that one call reads. Each version of a room may be given twice: as a manifest and in a
 * certificate.
 */
export const maxVersionsAtOnce = 2 * manifestLimits.versions;

type Link = {
  readonly chainVersion: ChainVersion;
  readonly manifest: Manifest | EvidenceError;
  readonly sha256: string;
};

/**
 * Verifies the hash chain of a room's passport versions, which may be in any order.
 *
 * The claim `chain.versions` fails if a version occurs twice or is missing between the first and the last. It also
 * fails for no versions, too many, or a number outside 1 to 20. It is unchecked when version 1 is missing.
 *
 * The next claims are about each version, in ascending order:
 * - `manifest.vN.schema`: the manifest is valid. If this fails, the other claims about this version are omitted.
 * - `.canonical`: the bytes are the canonical ones.
 * - `.hash`: the hash of the bytes is the stated manifestSha256. Unchecked when none is stated.
 * - `.version`: the manifest names this version.
 * - `.room`: the manifest names the requested room or, without `roomCode`, the room of the first valid manifest.
 * - `.link`: the manifest names the hash of the previous version, or null in version 1. Unchecked without the previous
 *   version.
 *
 * @param input `roomCode` the expected room; without it, all versions must name the same room
 */
export async function verifyChain(input: {
  readonly versions: readonly ChainVersion[];
  readonly roomCode?: string;
}): Promise<Claim[]> {
  if (input.versions.length > maxVersionsAtOnce) {
    return [{ name: "chain.versions", state: "fails", why: `More than ${maxVersionsAtOnce} versions were given.` }];
  }
  const links = await Promise.all(input.versions.toSorted((a, b) => a.version - b.version).map(readLink));
  const roomCode = input.roomCode ?? links.map((link) => manifestOf(link)?.passport.roomCode).find(Boolean);
  return [
    versionsClaim(links.map((link) => link.chainVersion.version)),
    ...links.flatMap((link) => linkClaims(link, links, roomCode)),
  ];
}

async function readLink(chainVersion: ChainVersion): Promise<Link> {
  return { chainVersion, manifest: tryParse(chainVersion.bytes), sha256: await sha256Hex(chainVersion.bytes) };
}

function tryParse(bytes: Uint8Array): Manifest | EvidenceError {
  try {
    return parseManifest(bytes);
  } catch (error) {
    if (error instanceof EvidenceError) return error;
    throw error;
  }
}

function manifestOf(link: Link): Manifest | undefined {
  return link.manifest instanceof EvidenceError ? undefined : link.manifest;
}

function versionsClaim(versions: readonly number[]): Claim {
  const name = "chain.versions";
  const [first, last] = [versions[0], versions.at(-1)];
  if (first === undefined || last === undefined) return { name, state: "fails", why: "No version was given." };
  if (versions.some((version) => !Number.isInteger(version) || version < 1 || version > manifestLimits.versions)) {
    return { name, state: "fails", why: `Versions run from 1 to ${manifestLimits.versions}.` };
  }
  const twice = versions.find((version, i) => version === versions[i + 1]);
  if (twice !== undefined) return { name, state: "fails", why: `Version ${twice} was given more than once.` };
  const before = versions.find((version, i) => i < versions.length - 1 && versions[i + 1] !== version + 1);
  if (before !== undefined) return { name, state: "fails", why: `Version ${before + 1} is missing.` };
  if (first > 1) return { name, state: "unchecked", why: `Versions before ${first} were not given.` };
  return { name, state: "holds", why: `Versions 1 to ${last} are there, each once.` };
}

function linkClaims(link: Link, links: readonly Link[], roomCode: string | undefined): Claim[] {
  const { chainVersion, manifest } = link;
  const named = (check: string) => `manifest.v${chainVersion.version}.${check}`;
  if (manifest instanceof EvidenceError) {
    return [{ name: named("schema"), state: "fails", why: `The manifest cannot be read: ${manifest.message}.` }];
  }
  const { passport } = manifest;
  return [
    { name: named("schema"), state: "holds", why: "It is a closing manifest." },
    claim(
      named("canonical"),
      equalBytes(chainVersion.bytes, manifestBytes(manifest)),
      "The bytes are the manifest's canonical JSON.",
      "The bytes are not the manifest's canonical JSON.",
    ),
    hashClaim(named("hash"), link),
    claim(
      named("version"),
      passport.version === chainVersion.version,
      `The manifest names version ${chainVersion.version}.`,
      `The manifest names version ${passport.version}, not ${chainVersion.version}.`,
    ),
    claim(
      named("room"),
      passport.roomCode === roomCode,
      `The manifest is of room ${passport.roomCode}.`,
      `The manifest is of room ${passport.roomCode}, not of ${roomCode}.`,
    ),
    previousClaim(named("link"), link, passport.prevManifestSha256, links),
  ];
}

function hashClaim(name: string, { chainVersion, sha256 }: Link): Claim {
  const stated = chainVersion.manifestSha256;
  if (stated === undefined) return { name, state: "unchecked", why: `The SHA-256 is ${sha256}; none was stated.` };
  if (!isSha256Hex(stated)) return { name, state: "fails", why: "The stated SHA-256 is not 64 lowercase hex digits." };
  return claim(name, sha256 === stated, `The SHA-256 is ${sha256}.`, `The SHA-256 is ${sha256}, not ${stated}.`);
}

function previousClaim(name: string, { chainVersion }: Link, previous: string | null, links: readonly Link[]): Claim {
  if (chainVersion.version === 1) {
    return claim(
      name,
      previous === null,
      "The first version links to none.",
      `The first version links to ${previous}.`,
    );
  }
  if (previous === null) return { name, state: "fails", why: `Version ${chainVersion.version} links to no version.` };
  const before = links.filter((link) => link.chainVersion.version === chainVersion.version - 1);
  if (before.length === 0) {
    return {
      name,
      state: "unchecked",
      why: `Version ${chainVersion.version - 1}, which hashes to ${previous}, was not given.`,
    };
  }
  return claim(
    name,
    before.every((link) => link.sha256 === previous),
    `It links to version ${chainVersion.version - 1}.`,
    `It links to ${previous}, and version ${chainVersion.version - 1} hashes to ${before.map((link) => link.sha256).join(", ")}.`,
  );
}
