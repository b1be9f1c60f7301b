/** The documents about money: receipts, credit notes and monthly statements, with their issuer and their buyer. */
export { type BillingDocument, documentsOfOrder } from "./documents.ts";
export { checkMonths, closeMonths } from "./months.ts";
export { byFile, drawnStatement, drawPaper, lineKind, signedCents, sumFacts } from "./paper.ts";
export { buyerOf, readIssuer, registerIssuer, serviceZone, setBuyer } from "./parties.ts";
export { type BillingDeps, billingRoutes, documentFile } from "./routes.ts";
export {
  protectedTables,
  type StatementWithLines,
  statementOf,
  statementsOf,
} from "./statements.ts";
