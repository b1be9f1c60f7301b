import { EvidenceError } from "@signsealship/evidence/errors";
import { parseManifest } from "@signsealship/evidence/manifest";
import type { RoomRecord } from "@signsealship/evidence/records";
import type { ClosingVersion } from "@signsealship/evidence/seal";
import { readClosingCertificate, readSealPurpose } from "@signsealship/evidence/seal";
import type { ClosingConfig } from "./config.ts";

/** True if a PDF was sealed as a closing certificate. Read from the file before anything in it is verified. */
export async function isClosingCertificate(bytes: Uint8Array): Promise<boolean> {
  try {
    return (await readSealPurpose(bytes))?.kind === "closing";
  } catch (error) {
    if (error instanceof EvidenceError) return false;
    throw error;
  }
}

type Dropped = Pick<ClosingVersion, "manifest" | "certificate">;
type Recorded = ClosingConfig["versions"];

/**
 * Joins the dropped files with the recorded versions, version by version. A dropped record is treated like one on the
 * page. If a second record contradicts the first record of the same version, it is listed as a separate version.
 */
export function joinedVersions(
  droppedFiles: readonly Dropped[],
  ofPage: Recorded,
  records: readonly RoomRecord[] = [],
): ClosingVersion[] {
  const recorded = [...ofPage];
  const others: ClosingVersion[] = [];
  for (const { chainOk: _, ...record } of records) {
    const { version, manifestSha256, sealedSha256 } = record;
    const recordedVersion = recorded.find((one) => one.version === version);
    const manifest = new TextDecoder().decode(record.manifest);
    const same = recordedVersion?.manifestSha256 === manifestSha256 && recordedVersion.sealedSha256 === sealedSha256;
    if (recordedVersion === undefined) recorded.push({ version, manifest, manifestSha256, sealedSha256 });
    else if (same && recordedVersion.manifest === null)
      recorded[recorded.indexOf(recordedVersion)] = { ...recordedVersion, manifest };
    else if (!same || recordedVersion.manifest !== manifest) others.push(record);
  }
  const dropped = droppedFiles.map((one) => ({
    ...one,
    version: versionIn(manifestOf(one)),
  }));
  const unread = dropped.filter(({ version }) => version === undefined).map(withoutVersion);
  const numbers = new Set([...recorded, ...dropped].flatMap(({ version }) => version ?? []));
  const withRecord = [...numbers].flatMap((version) => {
    const own = dropped.filter((one) => one.version === version);
    return versionsOf(
      own,
      recorded.find((one) => one.version === version),
    );
  });
  return [...withRecord, ...others, ...unread];
}

const withoutVersion = ({ manifest, certificate }: Dropped): ClosingVersion => ({
  ...(manifest && { manifest }),
  ...(certificate && { certificate }),
});

/**
 * The files of one version: a manifest and its certificate. Each further manifest or certificate is listed as a
 * separate version. A dropped manifest replaces the recorded one.
 */
function versionsOf(own: readonly Dropped[], record: Recorded[number] | undefined): ClosingVersion[] {
  const storedManifest = record?.manifest == null ? [] : [new TextEncoder().encode(record.manifest)];
  const droppedManifests = own.flatMap(({ manifest }) => manifest ?? []);
  const [manifest, ...manifests] = droppedManifests.length > 0 ? droppedManifests : storedManifest;
  const [certificate, ...certificates] = own.flatMap((one) => one.certificate ?? []);
  const stated = record && { version: record.version, manifestSha256: record.manifestSha256 };
  const sealed = record && { sealedSha256: record.sealedSha256 };
  if (manifest === undefined && certificate === undefined) return [];
  return [
    { ...stated, ...(manifest && { manifest }), ...(certificate && { certificate, ...sealed }) },
    ...manifests.map((one) => ({ ...stated, manifest: one })),
    ...certificates.map((one) => ({ ...stated, certificate: one, ...sealed })),
  ];
}

/** The manifest of a dropped file, not yet parsed. Null for a certificate without a readable attachment. */
export const manifestOf = ({ manifest, certificate }: Dropped): Uint8Array | null =>
  manifest ?? attachedManifest(certificate);

function attachedManifest(certificate: Uint8Array | undefined): Uint8Array | null {
  try {
    return certificate === undefined ? null : readClosingCertificate(certificate).manifest;
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

function versionIn(manifest: Uint8Array | null): number | undefined {
  try {
    return manifest === null ? undefined : parseManifest(manifest).passport.version;
  } catch (error) {
    if (error instanceof EvidenceError) return undefined;
    throw error;
  }
}
