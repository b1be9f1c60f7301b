import { equalBytes } from "../bytes.ts";
import type { Claim } from "../claim.ts";
import { signatureTimeStampTokens } from "../cms/signed-data.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import { sha256Hex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import type { JsonValue } from "../manifest/canonical-json.ts";
import type { PadesVerification } from "../seal/pades.ts";
import { retirementClaims } from "../seal/retirement.ts";
import { readSealStatement } from "../seal/seal-statement.ts";
import type { ProofTrust, ProofVerification } from "../seal/verify-proof.ts";
import type { Certificate } from "../x509/certificate.ts";
import { certifiedName } from "../x509/certified-name.ts";
import { verifyChain } from "../x509/chain.ts";
import { commonNamesOf } from "../x509/name.ts";
import type { DocumentSignature } from "./act-signatures.ts";
import { memberOf } from "./member.ts";
import type { EnvelopeEvidence, EnvelopeSigner } from "./schema.ts";

export type ActClaimName = "act_certificate" | "act_place" | "act_time_stamp";

/** One signer's act (a signature of the document) in an envelope, with the PDF signature that ends its revision. */
type Act = {
  readonly signer: EnvelopeSigner;
  /** Length in bytes of the file that the signer signed, before this act was appended. */
  readonly before: number;
  /** The time stamp in the act's record. */
  readonly timeStamp: JsonValue | undefined;
  readonly signature: DocumentSignature;
  readonly pades: PadesVerification;
  readonly claimedTime: number | null;
};

type ActInput = {
  readonly envelope: EnvelopeEvidence;
  /** The result of `verifyProof` for the sealed document. */
  readonly proof: ProofVerification;
  readonly signatures: ReadonlyMap<number, DocumentSignature> | EvidenceError;
  /** Certificates in the signatures of the custody certificate; empty when one of these signatures is unreadable. */
  readonly sealCertificates: readonly Certificate[];
  readonly trust: ProofTrust;
  /** The instant of the verification, epoch ms. */
  readonly at: number;
  readonly crypto: EvidenceCrypto;
};

type Finding = { readonly state: "holds" | "fails" | "unchecked"; readonly why: string };

/**
 * Verifies that each act was made by its signer. The signature uses the signer's own certificate and is at the right
 * place in the file. It has exactly the time stamp that the record names, or none (docs/evidence-format.md, section
 * 20.2).
 */
export async function verifyActs(input: ActInput): Promise<Claim<ActClaimName>[]> {
  const acts = actsOf(input);
  if (typeof acts === "string") {
    const names = ["act_certificate", "act_place", "act_time_stamp"] as const;
    return names.map((name) => ({ name, state: "fails", why: acts }));
  }
  return [
    summed("act_certificate", [sharedKeys(acts, input), ...(await each(acts, (act) => certificateOf(act, input)))]),
    summed("act_place", await each(acts, placeOf)),
    summed("act_time_stamp", await each(acts, timeStampOf)),
  ];
}

async function each(acts: readonly Act[], judge: (act: Act) => Finding | Promise<Finding>): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const act of acts) found.push(await judge(act));
  return found;
}

/** Combines findings into one claim: the first failed finding, else the first unchecked one, else the last. */
function summed<Name extends ActClaimName>(name: Name, found: readonly Finding[]): Claim<Name> {
  const worst =
    found.find(({ state }) => state === "fails") ?? found.find(({ state }) => state === "unchecked") ?? found.at(-1);
  return { name, ...(worst ?? { state: "fails", why: "There are no acts." }) };
}

/**
 * Pairs each act in the trail (the envelope's list of events) with its signature.
 * @returns the acts; if one has no readable signature, a sentence about that act
 */
function actsOf({ envelope, proof, signatures }: ActInput): readonly Act[] | string {
  const { revisions, signers, trail } = envelope;
  if (signatures instanceof EvidenceError) return `The signatures can't be read: ${signatures.message}.`;
  const acts: Act[] = [];
  for (const entry of trail.filter(({ event }) => event === "signed")) {
    const signer = signers.find(({ n }) => n === entry.signer);
    const index = revisions.findIndex((revision) => revision.kind === "signed" && revision.signer === signer?.n);
    const [before, own] = [revisions[index - 1], revisions[index]];
    // At most one signature of the file ends at this byte. If a later act ended there too, it would have removed this
    // act's signature. The claim `document_signatures` fails for such a change.
    const found = proof.earlierSignatures.find(({ revisionEnd }) => revisionEnd === own?.bytes);
    const signature = own && signatures.get(own.bytes);
    if (!signer || !before || !signature || !found?.pades)
      return `The act of signer ${signer?.n ?? "unknown"} has no signature of its own that can be read.`;
    const { pades, claimedTime } = found;
    acts.push({ signer, before: before.bytes, timeStamp: entry.timeStamp, signature, pades, claimedTime });
  }
  return acts;
}

/** Finds whether two signers, or a signer and a seal, share one key. */
function sharedKeys(acts: readonly Act[], { proof, sealCertificates }: ActInput): Finding {
  const { seal } = proof;
  const sealing = [...sealCertificates, ...(seal?.pades.certificates ?? [])];
  for (const [index, { pades, signer }] of acts.entries()) {
    const key = pades.certificate?.spki;
    if (!key) continue;
    const earlier = acts.slice(0, index).find((other) => isKeyOf(other.pades.certificate, key));
    if (earlier) return fails(`Signers ${earlier.signer.n} and ${signer.n} signed with one key.`);
    if (sealing.some((certificate) => isKeyOf(certificate, key)))
      return fails(`Signer ${signer.n} signed with a key of the seal, which is the service's own.`);
  }
  return holds("Each signer signed with a key of their own.");
}

const isKeyOf = (certificate: Certificate | null, key: Uint8Array): boolean =>
  certificate !== null && equalBytes(certificate.spki, key);

async function certificateOf(act: Act, input: ActInput): Promise<Finding> {
  const { signer, pades } = act;
  const { certificate } = pades;
  const who = `The certificate of signer ${signer.n}`;
  if (certificate === null || !pades.valid) return fails(`The act of signer ${signer.n} has no valid signature.`);
  if (!certificate.isSigners) return fails(`${who} does not have the policy of signers: it is not a signer's.`);
  if (!isNamed(certificate, signer.name)) return fails(`${who} names somebody else.`);
  const trusted = await chainOf(act, certificate, input);
  return trusted.state === "holds"
    ? holds("Each act is by the signer's own certificate, which a trusted authority issued.")
    : trusted;
}

/**
 * True if the certificate is issued to this signer. The name has the form of docs/evidence-format.md, section 4.4. In
 * older files, it is the plain name cut to the maximum length of a commonName.
 */
function isNamed({ subject }: Certificate, name: string): boolean {
  const before = Array.from(name).slice(0, 64).join("");
  try {
    const [stated, another] = commonNamesOf(subject);
    return another === undefined && (stated === certifiedName(name) || stated === before);
  } catch (error) {
    if (error instanceof EvidenceError) return false;
    throw error;
  }
}

async function chainOf({ signer, pades, claimedTime }: Act, leaf: Certificate, input: ActInput): Promise<Finding> {
  const { trust, at, crypto, proof } = input;
  const anchors = signerAnchorsOf(trust);
  if (anchors.length === 0) return unchecked("No certificate of a signers' authority was given: who issued is open.");
  const stamped = pades.timeStamps.flatMap(({ trusted, genTime }) => (trusted && genTime !== null ? [genTime] : []));
  const stampedTime = stamped.length === 0 ? null : Math.min(...stamped);
  // The seal covers the act, so the act can't be later than the time that is proven for the seal.
  const sealTime = proof.seal?.provenTime ?? null;
  const provenTime =
    stampedTime === null || sealTime === null ? (stampedTime ?? sealTime) : Math.min(stampedTime, sealTime);
  const chain = await verifyChain({
    leaf,
    intermediates: pades.certificates,
    anchors,
    at: provenTime ?? at,
    purpose: "documentSigning",
    crypto,
  });
  const who = `The certificate of signer ${signer.n} leads to no authority that was given`;
  if (!chain.valid) {
    const isLate = chain.reason === "expired" && provenTime === null;
    return isLate ? unchecked(`${who} at this instant: ${chain.why}.`) : fails(`${who}: ${chain.why}.`);
  }
  const [retired] = retirementClaims([leaf, ...chain.path], trust.retired ?? [], {
    provenTime,
    stampedTime,
    claimedTime,
  });
  return retired && retired.state !== "holds"
    ? { state: retired.state, why: `Of signer ${signer.n}: ${retired.why}` }
    : holds("");
}

/**
 * The certificates that may have issued signers' certificates: `signerAnchors`, and the certificate authorities among
 * the seal's anchors. A seal's own certificate can't issue certificates.
 */
const signerAnchorsOf = ({ signerAnchors = [], sealAnchors }: ProofTrust): readonly Certificate[] => [
  ...signerAnchors,
  ...sealAnchors.filter(({ basicConstraints }) => basicConstraints?.ca === true),
];

function placeOf({ signer, before, signature, pades }: Act): Finding {
  const statement = readSealStatement(pades.signedData?.signerInfos[0]?.signedAttrs ?? []);
  if (typeof statement === "string") return fails(`The act of signer ${signer.n} does not sign its place in the file.`);
  const { gapStart, gapEnd, end } = signature.range;
  const place = [0, gapStart, gapEnd, end - gapEnd];
  const same =
    statement.byteRange.length === place.length &&
    statement.byteRange.every((number, index) => number === place[index]) &&
    statement.originalLength === before &&
    signature.originalLength === before;
  return same
    ? holds("Each act signs its place in the file, and is there.")
    : fails(`The act of signer ${signer.n} signs another place in the file than the one where it is.`);
}

async function timeStampOf({ signer, timeStamp, pades }: Act): Promise<Finding> {
  const [signerInfo] = pades.signedData?.signerInfos ?? [];
  const [token, another] = signerInfo ? signatureTimeStampTokens(signerInfo) : [];
  const [judged] = pades.timeStamps;
  const who = `The act of signer ${signer.n}`;
  if (timeStamp === null) {
    if (token !== undefined) return fails(`${who} has a time stamp that its record does not name.`);
    return holds("The records name the time stamps of the acts, and no others.");
  }
  if (token === undefined || another !== undefined || judged === undefined)
    return fails(`${who} does not have the one time stamp that its record names.`);
  const failed = judged.claims.find(({ name, state }) => state === "fails" && name !== "chain");
  if (failed) return fails(`The time stamp of signer ${signer.n} is not genuine: ${failed.why}.`);
  if (judged.genTime === null || memberOf(timeStamp, "at") !== new Date(judged.genTime).toISOString())
    return fails(`${who} was stamped at another time than its record says.`);
  const tokenSha256 = memberOf(timeStamp, "tokenSha256");
  if (tokenSha256 !== undefined && tokenSha256 !== (await sha256Hex(token)))
    return fails(`The time stamp of signer ${signer.n} is another than the one that its record names.`);
  return judged.trusted
    ? holds("The records name the time stamps of the acts, and no others.")
    : unchecked(`The time stamp of signer ${signer.n} is as recorded; its authority is not one that was given.`);
}

const holds = (why: string): Finding => ({ state: "holds", why });
const fails = (why: string): Finding => ({ state: "fails", why });
const unchecked = (why: string): Finding => ({ state: "unchecked", why });
