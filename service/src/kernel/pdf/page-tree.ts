import type { PdfFile } from "./file.ts";
import type { Ref, Span } from "./lexer.ts";
import { LIMITS } from "./limits.ts";
import { resolve, resolveDict } from "./objects.ts";
import { PdfRefusal } from "./refusal.ts";
import { asInteger, asName, asRef, type Dict, elements, entry, isArray } from "./values.ts";

/** A page, which the standard requires to be an indirect object. */
export type Page = {
  readonly ref: Ref;
  readonly dict: Dict;
  /**
   * The ancestors of the page in the tree, starting with the root. The page inherits attributes from them (ISO 32000-1
   * 7.7.3.4).
   */
  readonly above: readonly Dict[];
};

/**
 * The pages in order, read on demand. The number of steps is limited. A node that is reached twice is refused.
 * @throws PdfRefusal `no_pages` when there is no page tree, `needs_repair`, `too_complex`
 */
export function* pages(file: PdfFile, catalog: Dict): Generator<Page, void, undefined> {
  const root = resolveDict(file, entry(catalog, "Pages"), "the root of the page tree");
  if (!root) throw new PdfRefusal("no_pages", `the catalog at ${catalog.start} leads to no page tree`);
  const seen = new Set<number>();
  let nodes = 0;
  const pending = [{ node: root.dict, kids: kids(file, root.dict) }];
  for (let open = pending.at(-1); open; open = pending.at(-1)) {
    const next = open.kids.next();
    if (next.done) {
      pending.pop();
      continue;
    }
    if (++nodes > LIMITS.treeNodes) throw new PdfRefusal("too_complex", `more than ${LIMITS.treeNodes} pages`);
    const found = resolveDict(file, next.value, "a node of the page tree");
    const ref = found?.ref ?? asRef(next.value);
    if (!found || !ref) {
      const which = ref ? `object ${ref.num}` : `the kid at ${next.value.start}`;
      throw new PdfRefusal("needs_repair", `${which} is neither a page nor a node of the page tree`);
    }
    if (seen.has(ref.num)) throw new PdfRefusal("needs_repair", `the page tree reaches object ${ref.num} twice`);
    seen.add(ref.num);
    if (isPage(found.dict)) yield { ref, dict: found.dict, above: pending.map(({ node }) => node) };
    else if (pending.length === LIMITS.nesting) throw new PdfRefusal("too_complex", "the page tree is too deep");
    else pending.push({ node: found.dict, kids: kids(file, found.dict) });
  }
}

function kids(file: PdfFile, node: Dict): Generator<Span, void, undefined> {
  const array = resolve(file, entry(node, "Kids"));
  if (!array || !isArray(array))
    throw new PdfRefusal("needs_repair", `the node of the page tree at ${node.start} has no array of Kids`);
  return elements(array);
}

function isPage(dict: Dict): boolean {
  const type = asName(entry(dict, "Type"));
  if (type === "Page") return true;
  return type !== "Pages" && entry(dict, "Kids") === undefined;
}

/** The first page. @throws PdfRefusal */
export function firstPage(file: PdfFile, catalog: Dict): Page {
  const { value } = pages(file, catalog).next();
  if (!value) throw new PdfRefusal("no_pages", "the page tree is empty");
  return value;
}

/**
 * The number of pages that the page tree reaches. It must equal the Count in the root of the tree.
 * @throws PdfRefusal `needs_repair` when the two numbers differ; `no_pages` when there is none; also the refusals of
 * `pages`
 */
export function countPages(file: PdfFile, catalog: Dict): number {
  const root = resolveDict(file, entry(catalog, "Pages"), "the root of the page tree");
  const statedCount = root && asInteger(resolve(file, entry(root.dict, "Count")));
  let count = 0;
  for (const _ of pages(file, catalog)) count++;
  if (count === 0) throw new PdfRefusal("no_pages", "the page tree is empty");
  if (count !== statedCount)
    throw new PdfRefusal("needs_repair", `the page tree holds ${count} pages and says ${statedCount}`);
  return count;
}
