/** Corrections that a firm makes to an order, before or after its payment, so that the order continues with its code. */

export {
  askRefund,
  beginAgain,
  type CorrectDeps,
  correctAddress,
  correctableFields,
  correctOrder,
  reportNotArrived,
} from "./correct.ts";
export type { CorrectedOrders } from "./correct-email.ts";
export { type ReplaceDeps, replaceDocument } from "./replace-document.ts";
export { correctionRoutes } from "./routes.ts";
export { type Corrected, type Parcels, readCorrected } from "./store.ts";
