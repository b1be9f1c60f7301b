import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import { sha } from "./form.ts";

type JsonValue = JsonObject[string];

export const verifyCode = "mfrggzdfmztwq2lknnwg23tpoa";
export const orderCode = "5e".repeat(20);
export const hashOf = (text: string): string => Buffer.from(sha("sha256", text)).toString("hex");
export const instant = (second: number): string => new Date(Date.UTC(2026, 0, 15, 12, 0, second)).toISOString();

export type Size = { readonly bytes: number; readonly sha256: string };
type Revision = Size & { readonly number: number; readonly kind: string; readonly signer: number | null };

/** Errors to write into an envelope. The envelope has no real document: its sizes and hashes match no file. */
export type Wrong = {
  readonly signers?: number;
  /** For each act, the number of its signer, counted from 1. */
  readonly by?: readonly number[];
  readonly sizes?: (size: Size, number: number) => Size;
  /** Members to add to every act, or to write in place of the act's own. They are set before the acts are hashed. */
  readonly act?: JsonObject;
  /** Changes records before they are chained. */
  readonly records?: (records: readonly JsonObject[]) => readonly JsonObject[];
  readonly evidence?: (envelope: JsonObject) => JsonObject;
};

/** The canonical evidence of an envelope, as small as it can be. */
export function envelopeText(wrong: Wrong): string {
  const { signers: count = 1, by = [1], sizes = (size) => size } = wrong;
  const kinds = ["original", "prepared", ...by.map(() => "signed"), "sealed"];
  const revisions = kinds.map((kind, number): Revision => {
    const size = sizes({ bytes: 100 + number, sha256: hashOf(`state ${number}`) }, number);
    return { number, kind, signer: by[number - 2] ?? null, ...size };
  });
  const sizeOf = (number: number): JsonObject => {
    const { bytes = 0, sha256 = "" } = revisions.at(number) ?? {};
    return { bytes, sha256 };
  };
  const revision = (number: number): JsonObject => ({ ...sizeOf(number), number });
  const signerOf = (n: number) => ({ n, name: `Signer ${n}`, email: `${n}@example.com` });
  const signed = by.map((n, index): JsonObject => {
    const named = {
      at: instant(n),
      envelope: verifyCode,
      orderCode,
      revision: revision(index + 1),
      signer: signerOf(n),
    };
    const act = { ...named, ...wrong.act };
    const actSha256 = hashOf(canonicalJson(act));
    return { act, actSha256, event: "signed", revision: revision(index + 2), signer: n, timeStamp: null };
  });
  const created: JsonObject = { event: "created", orderCode, document: sizeOf(0), revision: revision(1) };
  const records = [created, ...signed, { event: "sealed", document: sizeOf(-1) }];
  const trail: JsonObject[] = [];
  for (const [index, record] of (wrong.records ?? ((all) => all))(records).entries()) {
    const before = trail.at(-1);
    const previousSha256 = before ? hashOf(canonicalJson(before)) : null;
    trail.push({ at: instant(index), envelope: verifyCode, position: index + 1, previousSha256, ...record });
  }
  const envelope: JsonObject = {
    format: "signsealship-envelope",
    version: 1,
    verifyCode,
    orderCode,
    environment: "live",
    document: {
      originalSha256: sizeOf(0)["sha256"] ?? "",
      sealedSha256: sizeOf(-1)["sha256"] ?? "",
      bytes: sizeOf(-1)["bytes"] ?? 0,
    },
    revisions,
    signers: Array.from({ length: count }, (_, index) => index + 1).map((n) => ({
      ...signerOf(n),
      language: "en",
      routing: 1,
      auth: "link",
      signedAt: instant(n),
    })),
    trail,
  };
  // Changed evidence is not written as canonical JSON, because some faulty values have no canonical form.
  const changed = (wrong.evidence ?? ((one) => one))(envelope);
  return changed === envelope ? canonicalJson(envelope) : JSON.stringify(sorted(changed));
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, sorted((value as JsonObject)[name] ?? null)]));
}
