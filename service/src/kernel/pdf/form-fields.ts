import type { PdfFile } from "./file.ts";
import type { Ref } from "./lexer.ts";
import { LIMITS } from "./limits.ts";
import { resolve } from "./objects.ts";
import { PdfRefusal } from "./refusal.ts";
import { asName, asRef, type Dict, elements, entry, isArray, isDict, readDict, unambiguous } from "./values.ts";

/** A node of a form's field tree that is an indirect object. */
export type FormField = {
  readonly ref: Ref;
  readonly dict: Dict;
  /** The field type (FT) of this node, or else of the nearest ancestor with one. */
  readonly type: string | undefined;
  /** The ancestors of the node, starting with the root. */
  readonly above: readonly Dict[];
};

type Walk = { readonly found: FormField[]; readonly rest: Generator<FormField, void, undefined>; failure: unknown };

const walks = new WeakMap<Dict, Walk>();

/**
 * The fields of a form, in the order of `walk`. Signing and sealing iterate over them several times. The result is
 * cached, so that only the first walk uses up budget.
 * @throws PdfRefusal `needs_repair`, `too_complex`
 */
export function* formFields(file: PdfFile, acroForm: Dict): Generator<FormField, void, undefined> {
  const walked = walks.get(acroForm) ?? { found: [], rest: walk(file, acroForm), failure: null };
  walks.set(acroForm, walked);
  for (let at = 0; ; at++) {
    const field = walked.found[at] ?? readNext(walked);
    if (!field) return;
    yield field;
  }
}

/**
 * Reads the next field of a walk; undefined at its end. After an error, every later call throws the same error.
 * Otherwise the fields found before the error would look like all fields of the form.
 */
function readNext(walked: Walk): FormField | undefined {
  if (walked.failure !== null) throw walked.failure;
  try {
    const { value, done } = walked.rest.next();
    if (done || !value) return undefined;
    walked.found.push(value);
    return value;
  } catch (error) {
    walked.failure = error;
    throw error;
  }
}

/**
 * The fields of a form (ISO 32000-1 12.7.3), each node before its descendants. The number of steps is limited. A field
 * that is listed twice is visited once. Fields that are missing, direct objects or not dictionaries are skipped.
 * @throws PdfRefusal `needs_repair`, `too_complex`
 */
function* walk(file: PdfFile, acroForm: Dict): Generator<FormField, void, undefined> {
  const roots = resolve(file, entry(acroForm, "Fields"));
  if (!roots) return;
  if (!isArray(roots))
    throw new PdfRefusal("needs_repair", `the Fields of the form at ${acroForm.start} are not an array`);
  const seen = new Set<number>();
  const pending: Open[] = [{ num: 0, kids: elements(roots), type: undefined, above: [] }];
  let nodes = 0;
  for (let open = pending.at(-1); open; open = pending.at(-1)) {
    const next = open.kids.next();
    if (next.done) {
      pending.pop();
      continue;
    }
    if (++nodes > LIMITS.treeNodes) throw new PdfRefusal("too_complex", `more than ${LIMITS.treeNodes} form fields`);
    const ref = asRef(next.value);
    if (ref && pending.some(({ num }) => num === ref.num)) {
      throw new PdfRefusal("needs_repair", `the form field ${ref.num} is its own descendant`);
    }
    if (!ref || seen.has(ref.num)) continue;
    seen.add(ref.num);
    const value = resolve(file, next.value);
    if (!value || !isDict(value)) continue;
    const dict = unambiguous(readDict(value.bytes, value.start), "a form field");
    const type = asName(resolve(file, entry(dict, "FT"))) ?? open.type;
    yield { ref, dict, type, above: open.above };
    const kids = resolve(file, entry(dict, "Kids"));
    if (!kids || !isArray(kids)) continue;
    if (pending.length === LIMITS.nesting) throw new PdfRefusal("too_complex", "the form's fields nest too deeply");
    pending.push({ num: ref.num, kids: elements(kids), type, above: [...open.above, dict] });
  }
}

type Open = {
  readonly num: number;
  readonly kids: ReturnType<typeof elements>;
  readonly type: string | undefined;
  readonly above: readonly Dict[];
};
