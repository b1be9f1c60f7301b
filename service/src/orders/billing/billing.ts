/** The documents about money: receipts, credit notes and monthly statements, with their issuer and their buyer. */
export { type BillingDocument, documentsOfOrder, ordersByNumber, paidByText, payerOf } from "./documents.ts";
export { statementMail } from "./mail.ts";
export { checkMonths, closeMonths } from "./months.ts";
export { drawnStatement, drawPaper } from "./paper.ts";
export {
  buyerOf,
  buyerZones,
  namesIssuer,
  readIssuer,
  registerIssuer,
  serviceZone,
  setBuyer,
  watchIssuer,
} from "./parties.ts";
export { type BillingDeps, billingRoutes, documentFile } from "./routes.ts";
export {
  ledgerOf,
  lineKind,
  monthState,
  monthTitle,
  settlement,
  signedCents,
  sumFacts,
  sumsByPayer,
} from "./statement-text.ts";
export {
  protectedTables,
  type StatementWithLines,
  statementOf,
  statementsOf,
  withMatches,
} from "./statements.ts";
