import { sealReasons } from "@signsealship/evidence/seal";
import { nameText } from "@signsealship/evidence/x509";
import { LRUCache } from "lru-cache";
import { readShownFirm } from "../../partners/partners.ts";
import { countPagesIn } from "../../pdf/count-pages.ts";
import type { Task, Workers } from "../../platform/workers/task.ts";
import { authorityName, leafOf, type SealDocument, sealOwnDocument } from "../../seals/seals.ts";
import { recordFile } from "../evidence/record.ts";
import { sealedParts } from "../evidence/sealed-parts.ts";
import { findEvidence, type NamedDeps, sealedDocument } from "../lookup.ts";
import { type ProofRecord, proofRecord } from "../public-record.ts";
import type { EvidenceRow } from "../store.ts";
import type { ProofCertificate } from "./content.ts";

export type CertificateDeps = NamedDeps & { workers: Workers; sealDocument: SealDocument; baseUrl: string };

/** The sealed certificate of a passport; null for an unknown code. `forOwner` names the firm, which the public never learns. */
export type ProofCertificates = (verifyCode: string, forOwner: boolean) => Promise<Buffer | null>;

const drawing: Task<ProofCertificate, Uint8Array<ArrayBuffer>> = {
  name: "draw a proof certificate",
  module: import.meta.resolve("./draw-task.ts"),
  limitMs: 60_000,
};

/** Some three hundred certificates: whoever asks again soon gets the same bytes. */
const keptBytes = 16 * 1024 * 1024;

/**
 * Makes certificates when they are asked for: drawn from the record alone, so two say the same, and sealed without a time stamp of
 * their own, for the one that counts is the document's.
 */
export function openProofCertificates(deps: CertificateDeps): ProofCertificates {
  const made = new LRUCache<string, Buffer>({ maxSize: keptBytes, sizeCalculation: ({ length }) => length });
  return async (verifyCode, forOwner) => {
    const [evidence, record] = await Promise.all([findEvidence(deps, verifyCode), proofRecord(deps, verifyCode)]);
    if (!evidence || !record) return null;
    const firm = forOwner ? await firmOf(deps, evidence) : null;
    const name = forOwner ? deps.names.open(evidence.name, evidence.id) : record.name;
    const shown = { ...record, name };
    const key = JSON.stringify([shown, firm]);
    const known = made.get(key);
    if (known) return known;
    const bytes = await make(deps, evidence, shown, firm);
    made.set(key, bytes);
    return bytes;
  };
}

async function firmOf({ db }: CertificateDeps, { partnerId }: EvidenceRow): Promise<ProofCertificate["firm"]> {
  const { name, branding } = await readShownFirm(db, partnerId);
  return { name, accentColor: branding?.accentColor ?? null };
}

async function make(
  deps: CertificateDeps,
  evidence: EvidenceRow,
  record: ProofRecord,
  firm: ProofCertificate["firm"],
): Promise<Buffer> {
  const { workers, baseUrl } = deps;
  const { certificate, fingerprint } = leafOf(evidence.chainPem);
  const { authority, token, stampedAt, partnerId: holder, environment, verifyCode } = evidence;
  const input: ProofCertificate = {
    record,
    recordBytes: recordFile(evidence, baseUrl),
    firm,
    document: await documentOf(deps, evidence),
    sealedBy: { certificate: nameText(certificate.subject), fingerprint },
    authorityName: token && authority && stampedAt && authorityName({ token, authority, genTime: stampedAt }),
    issuerUrl: baseUrl,
    verifyUrl: `${baseUrl}/verify/${verifyCode}`,
  };
  const drawn = await workers.run(drawing, { holder, input });
  const bytes = Buffer.from(drawn.buffer, drawn.byteOffset, drawn.length);
  const reason = sealReasons.certificate[environment];
  return (await sealOwnDocument(deps.sealDocument, { bytes, holder, reason, timeStamped: false })).bytes;
}

/** What can be said of the sealed PDF where it is kept. */
async function documentOf(deps: CertificateDeps, evidence: EvidenceRow): Promise<ProofCertificate["document"]> {
  const sealed = await sealedDocument(deps, evidence);
  if (!sealed) return null;
  const { originalLength } = await sealedParts(sealed);
  const pages = await countPagesIn(deps.workers, evidence.partnerId, sealed);
  return { bytes: originalLength, sealedBytes: sealed.length, pages };
}
