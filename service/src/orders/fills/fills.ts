/** Fills. A fill is the form of a template or a catalog document that one person fills in online. */
import { fillTable } from "./store.ts";

export {
  faultsOf,
  finishedDocument,
  finishFill,
  forgetAnswers,
  isOpen,
  openFill,
  previewOf,
  questionsAt,
  saveStep,
  stepsOf,
} from "./answer.ts";
export { addCatalogForm, endCatalogForm, openCatalogForm } from "./catalog-forms.ts";
export {
  cancelFill,
  createFill,
  type FillDeps,
  type FillView,
  fillPage,
  ownFill,
  sendFill,
  usableFill,
} from "./fill.ts";
export { formOfDocument, questionsOfTemplate } from "./find-form.ts";
export { fillMail } from "./mail.ts";
export { readNewFill } from "./new-fill.ts";
export { type Fault, type Question, UnshownAnswers } from "./questions.ts";
export { fillRoutes } from "./routes.ts";
export { type Fill, fillCiphers, fillState, isOpenInFills, storedForms, sweepEndedFills } from "./store.ts";

export const protectedTables = [fillTable];
