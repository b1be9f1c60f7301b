import { minuteMs } from "../../../kernel/platform/clock.ts";
import { usStates } from "../../../orders/pricing/pricing.ts";
import { type ActMode, actModes } from "../commissions/expiry.ts";
import { type FormReader, formReader, type Read, type Typed } from "../form-reader.ts";

import { type FactRules, type Facts, noFacts, readFacts, typedFacts } from "./facts.ts";

export const actKinds = ["acknowledgment", "jurat", "witnessing", "oath", "copy"] as const;
export type ActKind = (typeof actKinds)[number];

/** True if the notary signs on paper, and uploads a scan. */
export const isOnPaper = (mode: ActMode): boolean => mode === "ink" || mode === "rin";

export const actWords: Readonly<Record<ActKind, string>> = {
  acknowledgment: "Acknowledgment",
  jurat: "Jurat",
  witnessing: "Witnessed signature",
  oath: "Oath or affirmation",
  copy: "Certified copy",
};

/** How the notary established who a person is. */
export const identityBases = ["personal_knowledge", "credential", "credible_witness"] as const;

/**
 * A credential (an identity document) and the result of its check. Contains at most the last four characters of the
 * credential's number.
 */
type Credential = {
  type: string;
  issuer: string;
  issuedOn: string;
  expiresOn: string;
  /** The provider's reference to the result of the check. */
  resultReference: string | null;
  last4: string | null;
};

export type Principal = Facts & {
  name: string;
  address: string;
  basis: (typeof identityBases)[number];
  /** The principal's own credential; null when the notary established the identity in another way. */
  credential: Credential | null;
  /** The person who vouched for the principal, and how the notary identified that person. Null when nobody vouched. */
  witness: Witness | null;
};

/** A credible witness, who vouches for a principal's identity. */
export type Witness = {
  name: string;
  address: string;
  credential: Credential;
  /** Set if the notary recorded how the witness swore or affirmed. */
  oath?: (typeof oathKinds)[number];
  /** How, and since when, the witness knows the principal. */
  knows?: string;
};

export const oathKinds = ["oath", "affirmation"] as const;

export type ActRecording = {
  sha256: string;
  keptAt: string;
  /** The last day on which the recording is stored; null when this service stores it permanently. */
  keptUntil: string | null;
  /**
   * Set when this service records the session. `sha256` is then the head of the recording's hash chain. Without this
   * member, `sha256` is the hash of the whole recording.
   */
  head?: { recording: string; seq: number; at: string };
};

/**
 * A notary's notes of an act. The fields follow Oklahoma's law (49 O.S. 206), which requires more of them than any
 * other state's law that we compared.
 */
export type Act = {
  act: ActKind;
  mode: ActMode;
  document: string;
  venue: { state: string; county: string };
  startedAt: string;
  endedAt: string;
  principals: Principal[];
  /** The other people who were present at the act: one line each, with the name and possibly the role and place. */
  witnesses: string[];
  /** The tool and session of an act by audio and video; null for an act in person. */
  session: { tool: string; id: string } | null;
  recording: ActRecording | null;
  feeCents: number;
  notes: string | null;
  /**
   * The run sheet of the act (the record of its steps), if it has one. `position` and `sha256` identify the sheet's
   * last mark at the time of the notes.
   */
  sheet?: { id: string; position: number; sha256: string };
  /**
   * Set when the signers signed the document again in this act: the hash of the document with their earlier signatures.
   *
   * The notarized document has the earlier signatures only if the notary acted on paper, on a print that shows them.
   */
  signedBefore?: { sha256: string };
};

/**
 * The maximum number of principals in an act, equal to `maxSigners` of an order. A live session numbers its third
 * persons after these.
 */
export const maxPrincipals = 10;

// Accepts a time up to five minutes in the future, because the notary's clock may be fast.
const clockToleranceMs = 5 * minuteMs;

export const principalField = (n: number, name: string): string => `principal_${n}_${name}`;

/** The fields of a principal that are dropdowns, and so have a value even in an empty form. */
const chosen = ["basis", "country"] as const;

/** The number of the last principal with any input besides the dropdowns; 0 if there is none. */
export function principalsIn(typed: Typed): number {
  const isTyped = (n: number) =>
    Object.entries(typed).some(
      ([name, value]) =>
        name.startsWith(principalField(n, "")) &&
        !chosen.some((choice) => name === principalField(n, choice)) &&
        value.trim() !== "",
    );
  const numbers = Array.from({ length: maxPrincipals }, (_, index) => index + 1);
  return numbers.findLast(isTyped) ?? 0;
}

/** Reads the form of an act. The result names every wrong field with its rule. */
export function readAct(typed: Typed, now: Date, rules: FactRules = noFacts): Read<Act> {
  const read = formReader(typed);
  const mode = read.requiredOneOf("mode", actModes);
  const isRemote = mode === "ron" || mode === "rin";
  const witnesses = read.optional("witnesses", { max: 2000, lines: true }) ?? "";
  const act: Act = {
    act: read.requiredOneOf("act", actKinds),
    mode,
    document: read.required("document"),
    venue: { state: read.required("venue_state"), county: read.required("venue_county") },
    startedAt: read.requiredInstant("started_at"),
    endedAt: read.requiredInstant("ended_at"),
    principals: Array.from({ length: Math.max(1, principalsIn(typed)) }, (_, index) =>
      readPrincipal(read, index + 1, isRemote, rules),
    ),
    witnesses: witnesses.split("\n").flatMap((line) => line.trim() || []),
    session: isRemote ? { tool: read.required("tool"), id: read.required("session_id") } : null,
    recording: isRemote ? readRecording(read) : null,
    feeCents: readFee(read),
    notes: read.optional("notes", { max: 2000, lines: true }),
  };
  if (act.venue.state !== "" && !usStates.has(act.venue.state))
    read.fault("venue_state", "must be the two-letter code of a US state");
  if (act.endedAt < act.startedAt) read.fault("ended_at", "must not be before the start");
  if (Date.parse(act.endedAt) > now.getTime() + clockToleranceMs) read.fault("ended_at", "must not be in the future");
  if (act.recording?.keptUntil && act.recording.keptUntil < act.endedAt.slice(0, 10))
    read.fault("recording_until", "must not be before the act");
  return read.done(act);
}

/**
 * Reads how one principal was identified, from that principal's fields. The result names every wrong field with its
 * rule.
 */
export function readIdentity(typed: Typed, n: number, isRemote: boolean, rules: FactRules = noFacts): Read<Principal> {
  const read = formReader(typed);
  return read.done(readPrincipal(read, n, isRemote, rules));
}

function readPrincipal(read: FormReader, n: number, isRemote: boolean, rules: FactRules): Principal {
  const at = (name: string) => principalField(n, name);
  const basis = read.requiredOneOf(at("basis"), identityBases);
  const [name, address] = [read.required(at("name")), read.required(at("address"))];
  const about = { name, address, basis, ...readFacts(read, at, basis, isRemote ? rules : noFacts) };
  if (basis === "personal_knowledge") return { ...about, credential: null, witness: null };
  if (basis === "credential") return { ...about, credential: readCredential(read, at, isRemote), witness: null };
  return { ...about, credential: null, witness: readWitness(read, at, isRemote) };
}

function readWitness(read: FormReader, at: (name: string) => string, isRemote: boolean): Witness {
  const [oath, knows] = [read.oneOf(at("witness_oath"), oathKinds), read.optional(at("witness_knows"), { max: 500 })];
  return {
    name: read.required(at("witness_name")),
    address: read.required(at("witness_address")),
    credential: readCredential(read, at, isRemote),
    ...(oath && { oath }),
    ...(knows && { knows }),
  };
}

/**
 * Reads the identity of a principal's credible witness, before the witness swears. The result names every wrong field
 * with its rule.
 */
export function readWitnessIdentity(typed: Typed, n: number, isRemote: boolean): Read<Witness> {
  const read = formReader(typed);
  const { name, address, credential } = readWitness(read, (field) => principalField(n, field), isRemote);
  return read.done({ name, address, credential });
}

function readCredential(read: FormReader, at: (name: string) => string, isRemote: boolean): Credential {
  const withoutNumber = (name: string): string => {
    const text = read.required(name);
    if (/\d{5}/.test(text)) read.fault(name, "must not hold the number of the credential");
    return text;
  };
  const credential = {
    type: withoutNumber(at("type")),
    issuer: withoutNumber(at("issuer")),
    issuedOn: read.requiredDate(at("issued")),
    expiresOn: read.requiredDate(at("expires")),
    resultReference: isRemote ? read.required(at("result"), { max: 120 }) : read.optional(at("result"), { max: 120 }),
    last4: read.matching(at("last4"), /^[0-9A-Za-z]{1,4}$/, "must be the last four characters at most"),
  };
  if (credential.expiresOn < credential.issuedOn)
    read.fault(at("expires"), "must not be before the credential was issued");
  return credential;
}

function readRecording(read: FormReader): ActRecording {
  const sha256 = read.required("recording_sha256");
  if (!/^[0-9a-f]{64}$/.test(sha256))
    read.fault("recording_sha256", "must be a SHA-256 in lowercase hex, 64 characters");
  return { sha256, keptAt: read.required("recording_at"), keptUntil: read.requiredDate("recording_until") };
}

function readFee(read: FormReader): number {
  const fee = read.required("fee", { max: 10 });
  if (!/^\d{1,4}(\.\d{2})?$/.test(fee)) read.fault("fee", "must be dollars like 25 or 25.00");
  return Math.round(Number(fee) * 100) || 0;
}

/** The values with which the form shows an existing act. */
export function typedAct(act: Act): Record<string, string> {
  const { venue, session, recording } = act;
  const minute = (instant: string) => instant.slice(0, 16);
  return {
    act: act.act,
    mode: act.mode,
    document: act.document,
    venue_state: venue.state,
    venue_county: venue.county,
    started_at: minute(act.startedAt),
    ended_at: minute(act.endedAt),
    witnesses: act.witnesses.join("\n"),
    tool: session?.tool ?? "",
    session_id: session?.id ?? "",
    recording_sha256: recording?.sha256 ?? "",
    recording_at: recording?.keptAt ?? "",
    recording_until: recording?.keptUntil ?? "",
    fee: (act.feeCents / 100).toFixed(2),
    notes: act.notes ?? "",
    ...(act.signedBefore && isOnPaper(act.mode) && { signed_again: "on" }),
    ...Object.assign({}, ...act.principals.map((principal, index) => typedPrincipal(principal, index + 1))),
  };
}

/** The values with which the form of an act shows one principal. */
export function typedPrincipal(
  { name, address, basis, credential, witness, ...facts }: Principal,
  n: number,
): Record<string, string> {
  const shown = credential ?? witness?.credential;
  const values = {
    name,
    address,
    basis,
    witness_name: witness?.name,
    witness_address: witness?.address,
    witness_oath: witness?.oath,
    witness_knows: witness?.knows,
    type: shown?.type,
    issuer: shown?.issuer,
    issued: shown?.issuedOn,
    expires: shown?.expiresOn,
    result: shown?.resultReference,
    last4: shown?.last4,
    ...typedFacts(facts),
  };
  return Object.fromEntries(Object.entries(values).map(([field, value]) => [principalField(n, field), value ?? ""]));
}
