import { annotations } from "./annotations.ts";
import { files } from "./files.ts";
import { forms } from "./forms.ts";
import { signatures } from "./signatures.ts";
import type { Honest } from "./update.ts";
import { validation } from "./validation.ts";

/** Every honest update of a signed form. */
export const honest: readonly (Honest & { readonly kind: string })[] = Object.entries({
  forms,
  signatures,
  validation,
  annotations,
  files,
}).flatMap(([kind, made]) => made.map((one) => ({ kind, ...one })));
