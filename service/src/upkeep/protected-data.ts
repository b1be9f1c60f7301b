import {
  closingSource,
  protectedTables as closings,
  storedClosings,
} from "../closing/closing-passports/closing-passports.ts";
import { protectedTables as deliveries } from "../closing/deliveries/deliveries.ts";
import { protectedTables as drafts } from "../closing/drafts/drafts.ts";
import { protectedTables as rooms } from "../closing/rooms/rooms.ts";
import { protectedTables as faxAttempts } from "../delivery/faxing/faxing.ts";
import { protectedTables as acceptances } from "../delivery/paper/paper.ts";
import { protectedTables as carriers } from "../delivery/shipping/shipping.ts";
import { protectedTables as anchors } from "../evidence/anchoring/anchoring.ts";
import {
  forgetPassportNames,
  passportSource,
  protectedTables as passports,
  proofCertificateSource,
  storedPassports,
} from "../evidence/proof-passports/proof-passports.ts";
import { protectedTables as seals } from "../evidence/seals/seals.ts";
import { protectedTables as transparencyLog } from "../evidence/transparency-log/transparency-log.ts";
import { protectedTables as witness } from "../evidence/witness/witness.ts";
import { protectedTables as accessRequests } from "../firms/access-requests/access-requests.ts";
import { protectedTables as liveRequests } from "../firms/live-requests/live-requests.ts";
import { protectedTables as members } from "../firms/members/members.ts";
import { protectedTables as operators } from "../firms/operators/operators.ts";
import { protectedTables as partners, type StoredBlobs } from "../firms/partners/partners.ts";
import { protectedTables as auditLog } from "../kernel/audit/audit.ts";
import { protectedTables as events } from "../kernel/events/events.ts";
import { sql } from "../kernel/platform/database/sql.ts";
import { resultRows } from "../kernel/platform/idempotency-keys.ts";
import { isMacTable, type MacTable, type ProtectedTable } from "../kernel/platform/protected-data.ts";
import { revocationRows } from "../kernel/platform/revocations.ts";
import type { Members } from "../kernel/platform/row-mac.ts";
import { type Forget, protectedTables as marks, type SourceOf } from "../kernel/retention/retention.ts";
import { protectedTables as tasks } from "../kernel/tasks/tasks.ts";
import { protectedTables as statements } from "../orders/billing/billing.ts";
import { protectedTables as bulks, isAwaitedByBulks } from "../orders/bulk/bulk.ts";
import { protectedTables as fills, isOpenInFills, storedForms } from "../orders/fills/fills.ts";
import { protectedTables as dispatched } from "../orders/fulfilment/fulfilment.ts";
import {
  documentSource,
  forgetDocumentNames,
  protectedTables as orders,
  storedDocuments,
  storedFills,
} from "../orders/order/order.ts";
import { payable, protectedTables as payments } from "../orders/payments/payments.ts";
import { protectedTables as refunds } from "../orders/refunds/refunds.ts";
import { storedVersions, protectedTables as templates, versionSource } from "../orders/templates/templates.ts";
import { protectedTables as webhooks } from "../outgoing/webhooks/webhooks.ts";
import { protectedTables as providers } from "../providers/providers.ts";
import { protectedTables as envelopes } from "../signing/envelopes/envelopes.ts";
import { protectedTables as notaries, storedRecordings } from "../signing/notaries/notaries.ts";

type BackfillRecord = { filled: string; doneAt: Date };

/**
 * The MAC of the oldest record, `evidence`, does not cover the record's name. The release that wrote this record did
 * not include the name.
 */
export const recordMembers = ({ filled, doneAt }: BackfillRecord): Members =>
  filled === "evidence" ? { doneAt } : { filled, doneAt };

/**
 * The table of records about added MACs. It has one record for each set of tables (`RowSet`) whose old rows got MACs.
 */
export const backfillRows: MacTable<BackfillRecord> = {
  table: sql`row_mac_backfill`,
  key: sql`filled`,
  mac: sql`row_mac`,
  rows: sql`SELECT filled AS key, filled, done_at AS "doneAt", row_mac AS mac FROM row_mac_backfill`,
  members: recordMembers,
};

/** All data protected by SECRETS_KEY, as declared by the features. */
export const protectedTables: readonly (ProtectedTable | MacTable)[] = [
  revocationRows,
  resultRows,
  ...auditLog,
  ...events,
  ...tasks,
  ...marks,
  ...providers,
  ...accessRequests,
  ...liveRequests,
  ...members,
  ...operators,
  ...partners,
  ...seals,
  ...anchors,
  ...transparencyLog,
  ...witness,
  ...passports,
  ...orders,
  ...templates,
  ...bulks,
  ...fills,
  ...payments,
  ...statements,
  ...refunds,
  ...acceptances,
  ...carriers,
  ...faxAttempts,
  ...dispatched,
  ...envelopes,
  ...notaries,
  ...rooms,
  ...closings,
  ...drafts,
  ...deliveries,
  ...webhooks,
  backfillRows,
];

export const macTables = protectedTables.filter(isMacTable);

/** The tables whose rows refer to blobs. */
export const blobTables = protectedTables.flatMap(({ table, blobs }) => (blobs ? [{ table, ...blobs }] : []));

/** The blobs whose bytes count toward the storage limit of a firm. */
export const storedBlobs: readonly StoredBlobs[] = [
  storedDocuments,
  storedFills,
  storedVersions,
  storedForms,
  storedPassports,
  storedRecordings,
  storedClosings,
];

/**
 * The blobs that the retention plan deletes, and the functions that delete the names and notes which belong to them.
 */
export const retained: { sources: readonly SourceOf[]; forgets: readonly Forget[] } = {
  sources: [
    documentSource(payable),
    passportSource,
    proofCertificateSource,
    closingSource,
    versionSource([isAwaitedByBulks, isOpenInFills]),
  ],
  forgets: [forgetDocumentNames, forgetPassportNames],
};
