/** Corrections that a firm makes on an order after trouble, so that it goes on with its code and its payment. */
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
export { type Corrected, readCorrected } from "./store.ts";
