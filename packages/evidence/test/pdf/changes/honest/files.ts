import { bodyOf } from "../../../seal/signed-pdf.ts";
import { edited, OBJECT } from "../document.ts";
import { appendStreams, freeing, hidden } from "../revisions.ts";
import { ALL, FORMS, type Honest, sizeOf, update } from "./update.ts";

export const files: readonly Honest[] = [
  update("nothing", ALL, () => []),
  update("objects written again as they were", ALL, (signed) =>
    [OBJECT.catalog, OBJECT.page, OBJECT.content, OBJECT.font, OBJECT.amount].map(
      (number) => [number, bodyOf(signed, number)] as const,
    ),
  ),
  update("an object that nothing leads to", ALL, (signed) => [[sizeOf(signed), "<< /Private true >>"]]),
  update("an object in a number that was never used", ALL, () => [[35, "<< /Private true >>"]]),
  { name: "free numbers, freed again", permitted: ALL, make: (signed) => freeing(signed, [35, 36]) },
  {
    name: "a field filled by a cross-reference stream",
    permitted: FORMS,
    make: (signed) => appendStreams(signed, [edited(signed, OBJECT.amount, "(100)", "(250)")], []),
  },
  {
    name: "a field filled in an object stream",
    permitted: FORMS,
    make: (signed) => appendStreams(signed, [], [edited(signed, OBJECT.amount, "(100)", "(250)")]),
  },
  {
    name: "a field filled in a hybrid section",
    permitted: FORMS,
    make: (signed) => hidden(signed, edited(signed, OBJECT.amount, "(100)", "(250)"), false),
  },
];
