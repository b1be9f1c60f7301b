import { type ObjectWriter, pdfText } from "./pdf-file.ts";

/** The standard structure types (ISO 32000-2, section 14.8.4) that certificates use. */
export type Tag =
  | "H1"
  | "H2"
  | "H3"
  | "P"
  | "L"
  | "LI"
  | "Lbl"
  | "LBody"
  | "Table"
  | "TR"
  | "TH"
  | "TD"
  | "Figure"
  | "Link"
  | "Form";

/** Text that programs such as screen readers read in place of the drawing. */
type Spoken = { alt?: string; actualText?: string };

/** A reference to marked content or to an annotation. Both are numbered on their page. */
type Content = { page: number; mark: number } | { page: number; annotation: number };

export type Element = Spoken & { tag: Tag | "Document"; kids: (Element | Content)[] };

/** The logical structure of a document, in reading order (ISO 32000-2, section 14.7). */
export type Structure = {
  /** The open structure element; null while artifacts such as rules, the service's mark and page numbers are drawn. */
  current: () => Element | null;
  /**
   * Runs `draw` inside a new child of the open structure element. Consecutive list items share one list, and
   * consecutive rows share one table.
   */
  tagged: <T>(tag: Tag, draw: () => T, spoken?: Spoken) => T;
  /**
   * Writes the structure tree.
   * @param pages the references of the pages
   * @param marks for each page, the elements of its marked content
   * @param annotations for each annotation, its reference and its element
   * @returns the reference of the tree's root
   */
  addTo: (
    file: ObjectWriter,
    pages: readonly string[],
    marks: readonly (readonly Element[])[],
    annotations: readonly (readonly [string, Element])[],
  ) => string;
};

const groups: Partial<Record<Tag, Tag>> = { LI: "L", TR: "Table" };

export function createStructure(): Structure {
  const root: Element = { tag: "Document", kids: [] };
  let open: Element | null = null;

  const placeOf = (tag: Tag): Element => {
    const parent = open ?? root;
    const group = groups[tag];
    if (group === undefined || parent.tag === group) return parent;
    const last = parent.kids.at(-1);
    if (last && "tag" in last && last.tag === group) return last;
    const newElement: Element = { tag: group, kids: [] };
    parent.kids.push(newElement);
    return newElement;
  };

  return {
    current: () => open,
    tagged(tag, draw, spoken = {}) {
      const element: Element = { tag, kids: [], ...spoken };
      placeOf(tag).kids.push(element);
      const before = open;
      open = element;
      const result = draw();
      open = before;
      return result;
    },
    addTo(file, pages, marks, annotations) {
      const tree = file.reserve();
      const refs = new Map<Element, string>();
      const kid = addElement({ file, pages, annotations: annotations.map(([ref]) => ref), refs }, root, tree.ref);
      const named = (element: Element) => refs.get(element) ?? "null";
      const ofPages = marks.map((elements, page) => `${page}[${elements.map(named).join(" ")}]`);
      const ofAnnotations = annotations.map(([, element], index) => `${pages.length + index} ${named(element)}`);
      const parents = file.add(`<</Nums[${[...ofPages, ...ofAnnotations].join(" ")}]>>`);
      const next = pages.length + annotations.length;
      tree.fill(`<</Type/StructTreeRoot/K ${kid}/ParentTree ${parents}/ParentTreeNextKey ${next}>>`);
      return tree.ref;
    },
  };
}

type Writing = {
  file: ObjectWriter;
  pages: readonly string[];
  annotations: readonly string[];
  refs: Map<Element, string>;
};

/** The attributes of a table header, which screen readers need. */
const attributes: Partial<Record<Element["tag"], string>> = { TH: "/A<</O/Table/Scope/Column>>" };

function addElement(writing: Writing, element: Element, parent: string): string {
  const { file, pages, annotations, refs } = writing;
  const { tag, kids, alt, actualText } = element;
  const own = file.reserve();
  refs.set(element, own.ref);
  const first = kids.find((kid) => "page" in kid);
  const page = first && "page" in first ? first.page : null;
  const written = kids.map((kid) => {
    if ("tag" in kid) return addElement(writing, kid, own.ref);
    if ("annotation" in kid) return `<</Type/OBJR/Pg ${pages[kid.page]}/Obj ${annotations[kid.annotation]}>>`;
    return kid.page === page ? String(kid.mark) : `<</Type/MCR/Pg ${pages[kid.page]}/MCID ${kid.mark}>>`;
  });
  own.fill(
    `<</S/${tag}/P ${parent}${page === null ? "" : `/Pg ${pages[page]}`}${attributes[tag] ?? ""}` +
      `${alt === undefined ? "" : `/Alt${pdfText(alt)}`}${actualText === undefined ? "" : `/ActualText${pdfText(actualText)}`}` +
      `/K[${written.join(" ")}]>>`,
  );
  return own.ref;
}
