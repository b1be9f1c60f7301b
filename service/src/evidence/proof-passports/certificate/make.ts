import { sealReasons } from "@signsealship/evidence/seal";
import { nameText } from "@signsealship/evidence/x509";
import { firmLogo, readShownFirm } from "../../../firms/partners/partners.ts";
import { countPagesIn } from "../../../kernel/pdf/pages/count-pages.ts";
import { heldFile, type StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { memoryHolder } from "../../../kernel/platform/bounds/memory-budget.ts";
import { type Clock, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { ownBuffer, type Task, type Workers } from "../../../kernel/platform/workers/task.ts";
import { authorityName, issuerOf, leafOf, type Sealing, sealChainOf, sealOwnDocument } from "../../seals/seals.ts";
import { placeInLog } from "../../transparency-log/transparency-log.ts";
import { recordFile } from "../evidence/files.ts";
import { sealedParts } from "../evidence/sealed-parts.ts";
import { findEvidence, type NamedDeps, withSealed } from "../lookup.ts";
import { type ProofRecord, proofRecord } from "../public-record.ts";
import type { EvidenceRow } from "../store.ts";
import type { ProofCertificate } from "./content.ts";
import { type Edition, keepCertificate, openStoredCertificate } from "./stored.ts";

export type CertificateDeps = Omit<NamedDeps, "db"> & {
  db: Database;
  clock: Clock;
  /**
   * The resources for drawing and sealing proof certificates. `baseUrl` is the service's URL, for links in the
   * certificate.
   */
  making: { workers: Workers; sealing: Pick<Sealing, "sealDocument" | "chainPem">; baseUrl: string };
};

/**
 * Returns the sealed proof certificate of a passport; null for an unknown code. With `forOwner`, returns the one for
 * the passport's owner, which names the firm. The public must not learn the firm.
 */
export type ProofCertificates = (verifyCode: string, forOwner: boolean) => Promise<StoredFile | null>;

const drawing: Task<ProofCertificate, Uint8Array<ArrayBuffer>> = {
  name: "draw a proof certificate",
  module: import.meta.resolve("./draw-task.ts"),
  limitMs: minuteMs,
};

/**
 * Makes the proof certificate of an `Edition` at the first request and stores it, so that all copies have the same
 * bytes. While the stored sealed PDF can't be read, the new proof certificate is not stored. A proof certificate gets
 * no time stamp of its own, because it lists the document's time stamp. When the X.509 certificate of the service's
 * seal changes, the service makes a new proof certificate.
 */
export function openProofCertificates(deps: CertificateDeps): ProofCertificates {
  const underWay = new Map<string, Promise<StoredFile>>();
  const { live, test } = deps.making.sealing.chainPem;
  const sealChains = { live: sealChainOf(live).sha256, test: sealChainOf(test).sha256 };

  function makeOnce(key: string, makeOne: () => Promise<StoredFile>): Promise<StoredFile> {
    const making = underWay.get(key) ?? makeOne().finally(() => underWay.delete(key));
    underWay.set(key, making);
    return making;
  }

  return async (verifyCode, forOwner) => {
    const [evidence, record] = await Promise.all([findEvidence(deps, verifyCode), proofRecord(deps, verifyCode)]);
    if (!evidence || !record) return null;
    const edition: Edition = {
      passportId: evidence.id,
      namesFirm: forOwner,
      documentKept: record.documentKept,
      sealRetired: (record.sealRetirement ?? null) !== null,
      sealChain: sealChains[evidence.environment],
    };
    const stored = await openStoredCertificate(deps, edition, memoryHolder(evidence));
    return stored ?? makeOnce(JSON.stringify(edition), () => makeAndKeep(deps, evidence, record, edition));
  };
}

async function makeAndKeep(
  deps: CertificateDeps,
  evidence: EvidenceRow,
  record: ProofRecord,
  edition: Edition,
): Promise<StoredFile> {
  const [document, firm] = [await documentOf(deps, evidence), edition.namesFirm ? await firmOf(deps, evidence) : null];
  const name = edition.namesFirm ? deps.names.open(evidence.name, evidence.id) : record.name;
  const bytes = await make(deps, evidence, { record: { ...record, name }, firm, document });
  // The sealed PDF should be stored but can't be read now, so this proof certificate lacks facts about the PDF. It is
  // not stored, because a certificate made later can contain these facts.
  if (edition.documentKept && document === null)
    return heldFile({ memory: deps.blobs.memory, holder: memoryHolder(evidence) }, bytes);
  return keepCertificate(deps, edition, bytes, evidence);
}

async function firmOf({ db }: CertificateDeps, { partnerId }: EvidenceRow): Promise<ProofCertificate["firm"]> {
  const [{ name, branding }, logo] = await Promise.all([readShownFirm(db, partnerId), firmLogo(db, partnerId)]);
  return { name, accentColor: branding?.accentColor ?? null, logo };
}

async function make(
  deps: CertificateDeps,
  evidence: EvidenceRow,
  what: Pick<ProofCertificate, "record" | "firm" | "document">,
): Promise<Buffer> {
  const { workers, sealing, baseUrl } = deps.making;
  const { certificate, fingerprint } = leafOf(evidence.chainPem);
  const { authority, token, stampedAt, partnerId: holder, environment, verifyCode } = evidence;
  const entry = { kind: "seal/v1", sealedSha256: evidence.sealedSha256 } as const;
  const input: ProofCertificate = {
    ...what,
    recordBytes: recordFile(evidence, baseUrl),
    sealedBy: { certificate: nameText(certificate.subject), fingerprint },
    authorityName: token && authority && stampedAt && authorityName({ token, authority, genTime: stampedAt }),
    logged: await placeInLog(deps.db, environment, entry),
    issuer: issuerOf({ chainPem: sealing.chainPem, baseUrl }, environment),
    verifyUrl: `${baseUrl}/verify/${verifyCode}`,
  };
  const drawn = await workers.run(drawing, { holder, input });
  const bytes = ownBuffer(drawn);
  const reason = sealReasons.certificate[environment];
  return (await sealOwnDocument(sealing.sealDocument, { bytes, holder, reason, timeStamped: false })).bytes;
}

/** Facts of the sealed PDF; null when it is not stored or can't be read. */
async function documentOf(deps: CertificateDeps, evidence: EvidenceRow): Promise<ProofCertificate["document"]> {
  return withSealed(deps, evidence, async (sealed) => {
    const { originalLength } = await sealedParts(sealed);
    const pages = await countPagesIn(deps.making.workers, evidence.partnerId, sealed);
    return { bytes: originalLength, sealedBytes: sealed.length, pages };
  });
}
