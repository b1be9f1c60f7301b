import { usStates } from "../../../orders/pricing/pricing.ts";
import { formReader, type Read, type Typed } from "../form-reader.ts";
import { certificateFault, chainFault } from "./certificate.ts";

export const notaryStatuses = ["active", "suspended"] as const;

/** A notary's record. Dates such as `2026-01-31` are whole days: the first or last day on which something is valid. */
export type Commission = {
  commissionName: string;
  state: string;
  county: string;
  commissionNumber: string;
  /** The first valid day; null when unknown. */
  commissionStarts: string | null;
  commissionExpires: string;
  /** The registration for acts by audio and video; null when the notary has none. */
  ronRegistration: string | null;
  ronStarts: string | null;
  ronExpires: string | null;
  /** The software with which the notary performs acts by audio and video. */
  tool: string | null;
  /** PEM of the certificate with which the notary signs; null when none is registered. */
  certificate: string | null;
  /** PEM of the issuers' certificates. The first one issued the notary's own certificate. */
  certificateChain: string | null;
  status: (typeof notaryStatuses)[number];
};

const maxPemLength = 64 * 1024;

/** The fields of a commission, in the order of the form. */
export const commissionFields = [
  "commissionName",
  "state",
  "county",
  "commissionNumber",
  "commissionStarts",
  "commissionExpires",
  "ronRegistration",
  "ronStarts",
  "ronExpires",
  "tool",
  "certificate",
  "certificateChain",
  "status",
] as const satisfies readonly (keyof Commission)[];

/** Reads the form of a commission. The result names every wrong field with its rule. */
export function readCommission(typed: Typed): Read<Commission> {
  const read = formReader(typed);
  const commission: Commission = {
    commissionName: read.required("commissionName"),
    state: read.required("state"),
    county: read.required("county"),
    commissionNumber: read.required("commissionNumber", { max: 60 }),
    commissionStarts: read.date("commissionStarts"),
    commissionExpires: read.requiredDate("commissionExpires"),
    ronRegistration: read.optional("ronRegistration", { max: 60 }),
    ronStarts: read.date("ronStarts"),
    ronExpires: read.date("ronExpires"),
    tool: read.optional("tool"),
    certificate: read.optional("certificate", { max: maxPemLength, lines: true }),
    certificateChain: read.optional("certificateChain", { max: 4 * maxPemLength, lines: true }),
    status: read.requiredOneOf("status", notaryStatuses),
  };
  const { state, ronRegistration, ronStarts, ronExpires, certificate, certificateChain } = commission;
  const { commissionStarts, commissionExpires } = commission;
  if (commissionStarts !== null && commissionStarts > commissionExpires)
    read.fault("commissionStarts", "must not be after its expiry");
  if (ronStarts !== null && ronStarts > (ronExpires ?? "")) read.fault("ronStarts", "must not be after its expiry");
  if (state !== "" && !usStates.has(state)) read.fault("state", "must be the two-letter code of a US state");
  if (ronRegistration !== null && ronExpires === null) read.fault("ronExpires", "is required with a registration");
  if (ronRegistration === null && ronExpires !== null) read.fault("ronRegistration", "is required with its expiry");
  const fault = certificate === null ? null : certificateFault(certificate);
  if (fault !== null) read.fault("certificate", fault);
  if (certificateChain !== null) {
    if (certificate === null) read.fault("certificate", "is required with a chain");
    else if (fault === null) {
      const gap = chainFault(certificate, certificateChain);
      if (gap !== null) read.fault("certificateChain", gap);
    }
  }
  return read.done(commission);
}

/** The values with which the form shows an existing commission. */
export const typedCommission = (commission: Commission): Record<string, string> =>
  Object.fromEntries(commissionFields.map((name) => [name, commission[name] ?? ""]));
