import { concatBytes, toHex } from "../bytes.ts";
import { fromHex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import { type OtsReader, otsReader, varuintBytes } from "./bytes.ts";
import { compareBytes } from "./ops.ts";
import { type Attestation, otsLimits } from "./timestamp.ts";

const tags = {
  pending: "83dfe30d2ef90c8e",
  bitcoin: "0588960d73d71901",
  litecoin: "06869a0d73d71b45",
  ethereum: "30fe8087b5c7ead7",
} as const;

const kindOfTag = new Map(Object.entries(tags).map(([kind, tag]) => [tag as string, kind as keyof typeof tags]));

/**
 * The characters that the reference implementation allows in a calendar's URI: no query, user information or percent
 * signs.
 */
const uriPattern = /^[A-Za-z0-9\-._/:]*$/;

/**
 * Reads an attestation, beginning with its 8-byte tag.
 * @throws EvidenceError `ots` or `limit`
 */
export function readAttestation(reader: OtsReader): Attestation {
  const tag = toHex(reader.bytes(8));
  const payload = reader.varbytes(otsLimits.attestationBytes);
  const kind = kindOfTag.get(tag);
  if (kind === undefined) return { kind: "unknown", tag, payload };

  const inner = otsReader(payload);
  const attestation: Attestation =
    kind === "pending" ? { kind, uri: readUri(inner) } : { kind, height: inner.varuint() };
  if (!inner.atEnd()) throw new EvidenceError("ots", `${kind} attestation with trailing bytes`);
  return attestation;
}

function readUri(reader: OtsReader): string {
  const uri = String.fromCharCode(...reader.varbytes(otsLimits.uriBytes));
  if (!uriPattern.test(uri)) throw new EvidenceError("ots", "calendar address with a character that is not allowed");
  return uri;
}

/** Encodes an attestation, beginning with its 8-byte tag. */
export function attestationBytes(attestation: Attestation): Uint8Array {
  const tag = fromHex(attestationTagHex(attestation), "ots");
  const payload = payloadBytes(attestation);
  return concatBytes([tag, varuintBytes(payload.length), payload]);
}

function payloadBytes(attestation: Attestation): Uint8Array {
  if (attestation.kind === "unknown") return attestation.payload;
  if (attestation.kind !== "pending") return varuintBytes(attestation.height);
  const uri = new TextEncoder().encode(attestation.uri);
  return concatBytes([varuintBytes(uri.length), uri]);
}

function attestationTagHex(attestation: Attestation): string {
  return attestation.kind === "unknown" ? attestation.tag : tags[attestation.kind];
}

/** Compares attestations for sorting: by tag, then by URI, height or payload. 0 for equal ones. */
export function compareAttestations(a: Attestation, b: Attestation): number {
  const [tagA, tagB] = [attestationTagHex(a), attestationTagHex(b)];
  if (tagA !== tagB) return tagA < tagB ? -1 : 1;
  if ("height" in a && "height" in b) return a.height - b.height;
  // Compares the URIs and not the payloads. A payload starts with the URI's length, so short URIs would be first.
  if ("uri" in a && "uri" in b) return a.uri === b.uri ? 0 : a.uri < b.uri ? -1 : 1;
  return compareBytes(payloadBytes(a), payloadBytes(b));
}
