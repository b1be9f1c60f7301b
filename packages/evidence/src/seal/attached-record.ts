import { type Claim, claim } from "../claim.ts";
import { isSha256Hex, sha256Hex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import { attachedFile, attachedNames } from "../pdf/attachment.ts";
import { openDocument, type PdfDocument } from "../pdf/document.ts";
import { evidenceNames } from "../records/evidence-files.ts";
import { parseStrictObject } from "../records/json.ts";
import {
  expect,
  type ProofRecord,
  parseProofRecord,
  type RecordClaimName,
  recordClaims,
} from "../records/proof-record.ts";
import type { SealPurpose } from "./purpose.ts";
import { type ProofContext, type ProofVerification, verifyProof } from "./verify-proof.ts";

export type AttachedClaimName = "record_attached" | "receipt_events" | "receipt_signatures" | RecordClaimName;

export type AttachedVerification = {
  readonly claims: readonly Claim<AttachedClaimName>[];
  /**
   * The result for the sealed file that a proof certificate describes. Null when the file was not given, the attached
   * record is unreadable, or the seal has another purpose.
   */
  readonly document: ProofVerification | null;
};

/** One event in a receipt's list. */
type ReceiptEvent = { readonly file: string; readonly provider: string; readonly sha256: string };
type Receipt = { readonly environment: string; readonly events: readonly ReceiptEvent[] };

const receiptName = "receipt.json";
const receiptKinds: readonly unknown[] = ["delivery_receipt", "mail_receipt", "fax_certificate"];
const limits = { record: 1024 * 1024, event: 16 * 1024 * 1024, events: 99 } as const;

/** The headers that contain each provider's signature, and their formats. */
const signatureHeaders: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  telnyx: { "telnyx-timestamp": /^\d{1,12}$/, "telnyx-signature-ed25519": /^[A-Za-z0-9+/]{86}==$/ },
  lob: { "lob-signature-timestamp": /^\d{1,15}$/, "lob-signature": /^[0-9a-f]{64}$/i },
  easypost: { "x-hmac-signature": /[0-9a-f]{64}$/i },
};

/**
 * Verifies the record that is attached to a receipt or to a proof passport's certificate. There are no claims for a
 * seal with another purpose.
 *
 * @param file the sealed file that a proof certificate describes; null when it was not given
 */
export async function verifyAttachedRecord(
  bytes: Uint8Array,
  purpose: SealPurpose,
  file: Uint8Array | null,
  context: ProofContext,
): Promise<AttachedVerification> {
  try {
    if (purpose.kind === "receipt") {
      return { claims: await receiptClaims(openDocument(bytes), purpose), document: null };
    }
    if (purpose.kind !== "certificate") return { claims: [], document: null };
    const record = parseProofRecord(attached(openDocument(bytes), evidenceNames.record, limits.record));
    const environment = record.isTest ? "test" : "live";
    const claims = [attachedClaim(evidenceNames.record, environment, purpose)];
    return file === null ? { claims, document: null } : await withFile(claims, record, file, context);
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    const why = `What should be attached to it can't be relied on: ${error.message}.`;
    return { claims: [{ name: "record_attached", state: "fails", why }], document: null };
  }
}

async function withFile(
  claims: readonly Claim<AttachedClaimName>[],
  record: ProofRecord,
  file: Uint8Array,
  { trust, at, crypto }: ProofContext,
): Promise<AttachedVerification> {
  const document = await verifyProof(file, trust, at, { crypto });
  const { sealedSha256, docSha256 } = document;
  const compared = recordClaims(record, { sealedSha256, ...(docSha256 !== null && { docSha256 }) });
  return { claims: [...claims, ...compared], document };
}

/**
 * Reads an attachment.
 * @throws EvidenceError also when there is no attachment of this name
 */
function attached(document: PdfDocument, name: string, limit: number): Uint8Array {
  const data = attachedFile(document, name, limit);
  if (data === null) throw new EvidenceError("record", `no ${name} is attached`);
  return data;
}

function attachedClaim(name: string, environment: string, purpose: SealPurpose): Claim<AttachedClaimName> {
  return claim(
    "record_attached",
    environment === purpose.environment,
    `The record ${name} is attached, of the ${environment} environment as the seal is.`,
    `The attached ${name} is of the ${environment} environment, and the seal of the ${purpose.environment} one.`,
  );
}

async function receiptClaims(document: PdfDocument, purpose: SealPurpose): Promise<Claim<AttachedClaimName>[]> {
  const { environment, events } = parseReceipt(attached(document, receiptName, limits.record));
  const own = attachedClaim(receiptName, environment, purpose);
  const listed = [receiptName, ...events.flatMap(({ file }) => [file, headersOf(file)])].toSorted();
  const extra = attachedNames(document).filter((name) => !listed.includes(name));
  const failed = (why: string): Claim<AttachedClaimName>[] => [own, { name: "receipt_events", state: "fails", why }];
  if (extra.length > 0) return failed(`Files are attached that the receipt does not list: ${extra.join(", ")}.`);
  if (events.length === 0) {
    const why = "It lists no signed event of a provider: what it says is the service's own word.";
    return [own, { name: "receipt_events", state: "unchecked", why }];
  }
  for (const { file, sha256, provider } of events) {
    const data = attachedFile(document, file, limits.event);
    if (data === null) return failed(`The event ${file} is not attached.`);
    if ((await sha256Hex(data)) !== sha256) return failed(`The attached ${file} is not the event that is listed.`);
    const headers = attachedFile(document, headersOf(file), limits.record);
    if (headers === null) return failed(`The headers of ${file}, with its signature, are not attached.`);
    const missing = missingHeader(provider, parseStrictObject(headers, limits.record));
    if (missing !== null) return failed(`The headers of ${file} have no signature of ${provider} (${missing}).`);
  }
  const why = "The providers' signatures are attached. Checking them takes their keys, which were not given.";
  return [
    own,
    { name: "receipt_events", state: "holds", why: `${events.length} signed events are attached as listed.` },
    { name: "receipt_signatures", state: "unchecked", why },
  ];
}

const headersOf = (file: string): string => file.replace(/\.json$/, ".headers.json");

/** The first signature header that is missing or malformed; null when all are valid. */
function missingHeader(provider: string, headers: Readonly<Record<string, unknown>>): string | null {
  const needed = Object.entries(signatureHeaders[provider] ?? {});
  const missing = needed.find(([name, form]) => {
    const value = headers[name];
    return typeof value !== "string" || !form.test(value);
  });
  return missing?.[0] ?? null;
}

/**
 * Parses the record of a receipt.
 * @throws EvidenceError `json`; `record`, naming the faulty member; `limit`
 */
function parseReceipt(bytes: Uint8Array): Receipt {
  const { format, version, kind, environment, events } = parseStrictObject(bytes, limits.record);
  expect(format === "signsealship-receipt", "format");
  expect(version === 1, "version");
  expect(receiptKinds.includes(kind), "kind");
  expect(environment === "live" || environment === "test", "environment");
  expect(Array.isArray(events) && events.length <= limits.events, "events");
  return { environment, events: events.map(parseEvent) };
}

function parseEvent(value: unknown, index: number): ReceiptEvent {
  expect(typeof value === "object" && value !== null, `events[${index}]`);
  const { file, provider, sha256 } = value as Readonly<Record<string, unknown>>;
  expect(file === `event-${String(index + 1).padStart(2, "0")}.json`, `events[${index}].file`);
  expect(typeof provider === "string" && Object.hasOwn(signatureHeaders, provider), `events[${index}].provider`);
  expect(isSha256Hex(sha256), `events[${index}].sha256`);
  return { file: String(file), provider, sha256 };
}
