/** Corrections that a firm makes to an order in trouble, so that the order continues with its code and payment. */
export { type Act, acts, againOn, whyNot } from "./allowed.ts";
export {
  askRefund,
  beginAgain,
  type CorrectDeps,
  correctableFields,
  correctOrder,
  type Wanted,
} from "./correct.ts";
export { type ReplaceDeps, replaceDocument } from "./replace-document.ts";
export { correctionRoutes } from "./routes.ts";
export { type Corrected, type Parcels, readCorrected } from "./store.ts";
