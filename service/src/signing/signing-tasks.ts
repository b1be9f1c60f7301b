import { dayMs, hourMs, minuteMs, secondMs } from "../kernel/platform/clock.ts";
import { withLongStatements } from "../kernel/platform/database/database.ts";
import type { PeriodicTask } from "../kernel/platform/work/periodic.ts";
import type { Resources } from "../kernel/resources.ts";
import {
  type EnvelopeDeps,
  followOverdue,
  issueCrls,
  mailForgotten,
  type SignerAuthorities,
  sweepEnvelopes,
} from "./envelopes/envelopes.ts";
import {
  sweepActs,
  sweepAppointments,
  sweepDrafts,
  sweepExports,
  sweepRecordings,
  sweepRequests,
  sweepSignatures,
  watchExpiries,
} from "./notaries/notaries.ts";

/** The features that the periodic tasks need from signing. */
type SigningParts = { envelopes: EnvelopeDeps; signerAuthorities: SignerAuthorities };

/** The periodic tasks of signing: those of envelopes, then those of notaries. */
export const signingTasks = (resources: Resources, parts: SigningParts): PeriodicTask[] => [
  ...envelopeTasks(resources, parts),
  ...notaryTasks(resources),
];

const envelopeTasks = (resources: Resources, { envelopes, signerAuthorities }: SigningParts): PeriodicTask[] => [
  {
    name: "envelopes that expire or remind",
    everyMs: minuteMs,
    atStart: true,
    work: (stopping) => sweepEnvelopes(envelopes, stopping),
  },
  {
    name: "revocation lists of signers' certificates",
    everyMs: minuteMs,
    atStart: true,
    work: (stopping) => issueCrls({ ...resources, baseUrl: resources.config.baseUrl, signerAuthorities }, stopping),
  },
  {
    name: "orders whose envelope does not follow",
    everyMs: hourMs,
    atStart: true,
    work: (stopping) => followOverdue(envelopes, stopping),
  },
  {
    name: "signers of notarized documents who were not mailed",
    everyMs: hourMs,
    atStart: true,
    work: (stopping) => mailForgotten(envelopes, stopping),
  },
];

const notaryTasks = (resources: Resources): PeriodicTask[] => [
  {
    name: "notes of notarizations that ended",
    everyMs: hourMs,
    work: () => sweepDrafts(withLongStatements(resources.db)),
  },
  {
    name: "signatures of notaries that nobody confirmed",
    everyMs: hourMs,
    work: () => sweepSignatures(withLongStatements(resources.db), resources.clock()),
  },
  {
    name: "appointments with notaries",
    everyMs: 30 * secondMs,
    atStart: true,
    work: (stopping) => sweepAppointments(resources, stopping),
  },
  {
    name: "acts in person whose order no longer waits",
    everyMs: 30 * secondMs,
    atStart: true,
    work: (stopping) => sweepActs(resources, stopping),
  },
  {
    name: "people who ask for a notary now",
    everyMs: 10 * secondMs,
    atStart: true,
    work: (stopping) => sweepRequests(resources, stopping),
  },
  {
    name: "recordings whose time is over",
    everyMs: hourMs,
    atStart: true,
    work: (stopping) => sweepRecordings(resources, stopping),
  },
  {
    name: "exports of recordings that are too old",
    everyMs: hourMs,
    work: () => sweepExports(resources),
  },
  {
    name: "commissions of notaries that expire",
    everyMs: dayMs,
    atStart: true,
    work: (stopping) => watchExpiries(resources, stopping),
  },
];
