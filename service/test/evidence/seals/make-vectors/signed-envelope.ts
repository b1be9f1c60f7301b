import { createHash } from "node:crypto";
import type { DerValue } from "@signsealship/evidence/asn1";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import { sealReasons } from "@signsealship/evidence/seal";
import type { Certificate } from "@signsealship/evidence/x509";
import { sealedFor, withAttachment } from "../../../../../packages/evidence/test/seal/closing-pdf.ts";
import { type SignOptions, signPdf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { cmsOver, type TestSigner, tokenOver } from "../../../../../packages/evidence/test/signer.ts";
import { issue, type Subject } from "./issued.ts";
import { document } from "./sealing.ts";
import { fixedKey, seal, sealedAt, stampedAt, tsa } from "./signers.ts";

const verifyCode = "mfrggzdfmztwq2lknnwg23tpoa";
const orderCode = "5e".repeat(20);
const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

const root: Subject = { name: "Test signers' root", key: fixedKey("signers' root") };
const authority: Subject = { name: "Test signers' authority", key: fixedKey("signers' authority") };
const stranger: Subject = { name: "Test strangers' authority", key: fixedKey("strangers' authority") };
export const rootCertificate = issue(root, root, { serial: 21, isAuthority: true });
export const authorityCertificate = issue(authority, root, { serial: 22, isAuthority: true });

type Key = Subject["key"];

/** A signer's certificate by the vectors' authority, for a key that is derived from a name. */
export function signerOf(
  name: string,
  serial: number,
  {
    key = fixedKey(`signer ${serial}`),
    issuer = authority,
    isSigners = true,
    until,
    subjectName,
  }: {
    readonly key?: Key;
    readonly issuer?: Subject;
    readonly isSigners?: boolean;
    readonly until?: number;
    readonly subjectName?: DerValue;
  } = {},
): TestSigner {
  const subject = { name, key };
  const stated = {
    serial,
    isAuthority: false,
    isSigners,
    ...(until && { until }),
    ...(subjectName && { subjectName }),
  };
  const certificate = issue(subject, issuer, stated);
  return { ...key, certificate };
}
export const byStranger = (name: string): TestSigner => signerOf(name, 30, { issuer: stranger });
/** A good signer's certificate, except that it is for the key of the seal. */
export const withSealKey = (name: string): TestSigner =>
  signerOf(name, 31, { key: { key: seal.key, sign: seal.sign ?? (() => new Uint8Array()) } });

/** One signer's act, with optional errors. */
export type Doing = {
  readonly name: string;
  readonly by: TestSigner;
  /** Certificates to write into the signature before the signer's own; none by default. */
  readonly above?: readonly Certificate[];
  /** Makes the time-stamp token of the signature; none by default. */
  readonly token?: (signature: Uint8Array) => Uint8Array;
  /** The record's statement about the time-stamp token; by default, the true one. */
  readonly recorded?: JsonObject | null;
  /** Returns the position that the act's signature states, given the true one; null to state none. */
  readonly statement?: (place: Place) => Place | null;
  /** Changes the signature value. */
  readonly cms?: (der: Uint8Array) => Uint8Array;
  /** How the act is written into the file. */
  readonly written?: Pick<SignOptions, "objects" | "append">;
  /** Returns the stated /SSSOriginalLength, given the true one. */
  readonly originalLength?: (length: number) => number;
  /** Returns the stated /SSSActSha256, given the true one. */
  readonly actSha256?: (hex: string) => string;
};
type Place = { readonly byteRange: readonly number[]; readonly originalLength: number };

export const stampedBy =
  (authorityOfTime: TestSigner = tsa) =>
  (signature: Uint8Array): Uint8Array =>
    tokenOver(signature, authorityOfTime, stampedAt);
export const stampRecord: JsonObject = { at: new Date(stampedAt).toISOString(), authority: "http://tsa.example/" };

/** The /ByteRange of the file that `signed` becomes once the signature value is inserted. The file ends at `end`. */
const gapOf = (signed: Uint8Array, end: number): Place["byteRange"] => {
  const gapStart = Buffer.from(signed).lastIndexOf("/Contents /ByteRange[") + "/Contents ".length;
  const length = signed.length - gapStart;
  return [0, gapStart, end - length, length];
};

/**
 * Appends an act with the tests' own writer: a field, and a signature with the members of docs/evidence-format.md,
 * section 20.
 */
function withAct(file: Uint8Array, record: JsonObject, doing: Doing): Uint8Array {
  const { by, above = [], token, statement, originalLength = (length) => length, actSha256 = (hex) => hex } = doing;
  const marker = "Act ".padEnd(87, "x");
  const hash = actSha256(sha256(canonicalJson(record)));
  const reserve = doing.cms ? 3000 : token || above.length > 0 ? 1900 : 1100;
  return signPdf(file, {
    ...doing.written,
    signer: by,
    reserve,
    reason: marker,
    originalLength: originalLength(file.length),
    dictionary: (text) => text.replace(`(${marker})`, `(I agree)/SSSActSha256<${hash}>`.padEnd(marker.length + 2)),
    contents: (signed) => {
      const byteRange = gapOf(signed, signed.length + 2 * reserve + 2);
      const place = (statement ?? ((one) => one))({ byteRange, originalLength: file.length });
      const digest = Uint8Array.from(createHash("sha256").update(signed).digest());
      const before = above.map(({ der }) => der);
      const der = cmsOver(digest, by, { before, ...(token && { stamp: token }), ...(place && { place }) });
      return doing.cms?.(der) ?? der;
    },
  });
}

export type Envelope = {
  readonly certificate: Uint8Array;
  readonly document: Uint8Array;
  /** The file after each act. */
  readonly states: readonly Uint8Array[];
};

export type Options = {
  readonly environment?: "live" | "test";
  readonly reason?: string;
  /** /Reason of the seal over the document. */
  readonly documentReason?: string;
  readonly original?: Uint8Array;
  /** How the custody certificate is sealed. */
  readonly sealing?: Partial<SignOptions>;
  /** Changes the document before it is sealed. */
  readonly beforeSeal?: (file: Uint8Array) => Uint8Array;
  /** Changes records before they are chained. */
  readonly records?: (records: readonly JsonObject[]) => readonly JsonObject[];
  /** Changes the evidence after its records were chained. */
  readonly evidence?: (envelope: JsonObject) => JsonObject;
  /** Changes the bytes that are attached. */
  readonly attached?: (text: string) => string;
};

const at = (second: number): string => new Date(sealedAt.getTime() + 1000 * second).toISOString();
const sizeOf = (bytes: Uint8Array) => ({ bytes: bytes.length, sha256: sha256(bytes) });

/** A signed and sealed envelope, with its custody certificate. The options add errors. */
export function signedEnvelope(doings: readonly Doing[], options: Options = {}): Envelope {
  const { environment = "live", original = document() } = options;
  const prepared = original;
  const signers = doings.map(({ name }, index) => ({
    n: index + 1,
    name,
    email: `signer${index + 1}@example.com`,
    language: "en",
    routing: index + 1,
    auth: "link",
    signedAt: at(index + 1),
  }));
  const states: Uint8Array[] = [];
  const acts = doings.map((doing, index): JsonObject => {
    const before = states.at(-1) ?? prepared;
    const { n, name, email, signedAt } = signers[index] ?? raise();
    const act = {
      at: signedAt,
      client: { ip: "203.0.113.7", userAgent: "Test/1" },
      consent: { at: at(0), language: "en", textSha256: "c0".repeat(32), version: "1" },
      envelope: verifyCode,
      identifiedBy: ["link mailed to the address"],
      keyHeldBy: "browser",
      mark: { kind: "typed", text: name },
      orderCode,
      revision: { ...sizeOf(before), number: index + 1 },
      signer: { email, n, name },
      values: [],
    };
    const state = withAct(before, act, doing);
    states.push(state);
    const timeStamp = doing.recorded === undefined ? (doing.token ? stampRecord : null) : doing.recorded;
    const revision = { ...sizeOf(state), number: index + 2 };
    return { act, actSha256: sha256(canonicalJson(act)), event: "signed", revision, signer: n, timeStamp };
  });
  const sealed = sealedFor(
    options.documentReason ?? sealReasons.signed[environment],
    { signer: seal },
    (options.beforeSeal ?? ((file) => file))(states.at(-1) ?? prepared),
  );
  const records = [
    {
      attempt: 1,
      document: sizeOf(original),
      event: "created",
      expiresAt: at(86_400),
      orderCode,
      revision: { ...sizeOf(prepared), number: 1 },
      signers: signers.map(({ signedAt: _, ...signer }) => ({ ...signer, phone: null })),
    },
    ...acts,
    { document: sizeOf(sealed), event: "sealed" },
  ];
  const revisions = [
    ["original", original],
    ["prepared", prepared],
    ...states.map((state) => ["signed", state] as const),
    ["sealed", sealed],
  ] as const;
  const envelope = {
    format: "signsealship-envelope",
    version: 1,
    verifyCode,
    orderCode,
    environment,
    document: { originalSha256: sha256(original), sealedSha256: sha256(sealed), bytes: sealed.length },
    revisions: revisions.map(([kind, state], number) => ({
      number,
      kind,
      signer: kind === "signed" ? number - 1 : null,
      ...sizeOf(state),
    })),
    signers,
    trail: chained((options.records ?? ((all) => all))(records)),
  };
  const text = canonicalJson((options.evidence ?? ((one) => one))(envelope));
  const attached = Buffer.from((options.attached ?? ((one) => one))(text));
  const pdf = withAttachment(Uint8Array.from(attached), { name: "(envelope.json)" });
  const reason = options.reason ?? sealReasons.custody[environment];
  return { certificate: sealedFor(reason, { signer: seal, ...options.sealing }, pdf), document: sealed, states };
}

/** Gives each record the members that all records have, and the hash of the record before it. */
function chained(records: readonly JsonObject[]): JsonObject[] {
  const trail: JsonObject[] = [];
  for (const [index, record] of records.entries()) {
    const before = trail.at(-1);
    const previousSha256 = before ? sha256(canonicalJson(before)) : null;
    trail.push({ at: at(index), envelope: verifyCode, position: index + 1, previousSha256, ...record });
  }
  return trail;
}

function raise(): never {
  throw new Error("there is no such signer");
}
