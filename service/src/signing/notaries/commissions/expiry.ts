import { dayMs } from "../../../kernel/platform/clock.ts";
import { certificateFacts } from "./certificate.ts";
import type { Commission } from "./commission.ts";

/** The parts of a notary's record that expire. */
export type Expiring = "commission" | "registration" | "certificate";

/**
 * The ways in which a notary may act. `ron`: by audio and video. `ipen`: in person, electronically. `ink`: in person,
 * on paper. `rin`: by audio and video, on paper.
 */
export const actModes = ["ron", "ipen", "ink", "rin"] as const;
export type ActMode = (typeof actModes)[number];

export type Expiry = {
  what: Expiring;
  /** The last day on which this part of the record is valid. */
  expiresOn: string;
  /** The first instant at which this part of the record is no longer valid. */
  endsAt: Date;
};

/** How long before an expiry a mail warns of it. */
const soonMs = 60 * dayMs;

/** The first instant at which a day has begun in all of the fifty states. It begins last in Hawaii, at 10:00 UTC. */
export const startOf = (day: string): Date => new Date(`${day}T10:00:00Z`);

/** The instant at which a day ends in UTC. */
export const endOf = (day: string): Date => new Date(Date.parse(`${day}T00:00:00Z`) + dayMs);

/**
 * The parts of a notary's record that expire, and when. A day ends at midnight UTC, before it ends locally in any of
 * the fifty states.
 */
export function expiriesOf({ commissionExpires, ronExpires, certificate }: Commission): Expiry[] {
  const notAfter = certificate === null ? null : certificateFacts(certificate).notAfter;
  return [
    { what: "commission", expiresOn: commissionExpires, endsAt: endOf(commissionExpires) },
    ...(ronExpires ? [{ what: "registration" as const, expiresOn: ronExpires, endsAt: endOf(ronExpires) }] : []),
    ...(notAfter
      ? [{ what: "certificate" as const, expiresOn: notAfter.toISOString().slice(0, 10), endsAt: notAfter }]
      : []),
  ];
}

type Start = { what: Expiring; startsAt: Date };

/**
 * The first instants at which the commission, the registration and the certificate are valid. Leaves out a part whose
 * first day is unknown.
 */
function startsOf({ commissionStarts, ronStarts, certificate }: Commission): Start[] {
  const first = (what: Expiring, day: string | null) => (day === null ? [] : [{ what, startsAt: startOf(day) }]);
  return [
    ...first("commission", commissionStarts),
    ...first("registration", ronStarts),
    ...(certificate === null
      ? []
      : [{ what: "certificate" as const, startsAt: certificateFacts(certificate).notBefore }]),
  ];
}

/** The instants at which the commission, the registration or the certificate becomes valid or expires. */
export const changesOf = (commission: Commission): Date[] => [
  ...startsOf(commission).map(({ startsAt }) => startsAt),
  ...expiriesOf(commission).map(({ endsAt }) => endsAt),
];

/** Tells if an expiry is still far away, comes within `soonMs`, or has passed. */
export const stageOf = ({ endsAt }: Expiry, now: Date): "later" | "soon" | "expired" => {
  const left = endsAt.getTime() - now.getTime();
  return left <= 0 ? "expired" : left <= soonMs ? "soon" : "later";
};

export const expiringWords: Readonly<Record<Expiring, string>> = {
  commission: "commission",
  registration: "registration for remote acts",
  certificate: "certificate",
};

/**
 * Returns the reasons, as sentences, why a notary can't do any act at this instant, even on paper. Empty when nothing
 * prevents an act.
 */
export const commissionBlocks = (commission: Commission, now: Date): string[] => blocksOf(commission, "ink", now);

/**
 * Returns the reasons, as sentences, why a notary can't act in this mode at this instant. Empty when nothing prevents
 * it.
 */
export function blocksOf(commission: Commission, mode: ActMode, now: Date): string[] {
  const { status, ronRegistration, certificate } = commission;
  const isRemote = mode === "ron" || mode === "rin";
  const needed = new Set<Expiring>(["commission"]);
  if (isRemote) needed.add("registration");
  // An act on paper needs no certificate.
  if (mode === "ron" || mode === "ipen") needed.add("certificate");
  return [
    ...(status === "suspended" ? ["You are suspended."] : []),
    ...(isRemote && ronRegistration === null ? ["No registration for remote acts is on record."] : []),
    ...(needed.has("certificate") && certificate === null ? ["No certificate is registered for you."] : []),
    ...startsOf(commission)
      .filter((start) => needed.has(start.what) && now < start.startsAt)
      .map(({ what, startsAt }) => `Your ${expiringWords[what]} begins on ${startsAt.toISOString().slice(0, 10)}.`),
    ...expiriesOf(commission)
      .filter((expiry) => needed.has(expiry.what) && stageOf(expiry, now) === "expired")
      .map(({ what, expiresOn }) => `Your ${expiringWords[what]} expired on ${expiresOn}.`),
  ];
}
