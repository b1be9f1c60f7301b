import { annotations, tags } from "./annotations.ts";
import type { Attack } from "./attack.ts";
import { catalogs, pages } from "./catalog.ts";
import { contents, lists } from "./contents.ts";
import { dressed } from "./dressed.ts";
import { fieldKeys } from "./field-keys.ts";
import { fields } from "./fields.ts";
import { indirect } from "./indirect.ts";
import { locks } from "./locks.ts";
import { lost } from "./lost.ts";
import { removals } from "./removals.ts";
import { sections } from "./sections.ts";
import { shielded } from "./shielded.ts";

/** Every manipulation of a signed form. */
export const attacks: readonly (Attack & { readonly kind: string })[] = Object.entries({
  dressed,
  fields,
  "field keys": fieldKeys,
  lists,
  contents,
  catalogs,
  pages,
  removals,
  locks,
  annotations,
  tags,
  sections,
  ...shielded,
  ...indirect,
  ...lost,
}).flatMap(([kind, made]) => made.map((attack) => ({ kind, ...attack })));
