import type { Canvas } from "./canvas.ts";
import type { GlyphFonts } from "./fonts/glyph-fonts.ts";
import { addResources } from "./fonts/objects.ts";
import type { ObjectWriter } from "./pdf-file.ts";
import { addPicture, type Picture } from "./picture.ts";
import type { Element } from "./structure.ts";

/** US Letter in points; the origin is the lower left corner. */
export const pageSize = { width: 612, height: 792 } as const;

export type Place = { x: number; y: number; width: number; height: number };

/**
 * The drawing of one structure element. `element` is null for drawing outside the logical structure, such as page
 * numbers.
 */
type Segment = { element: Element | null; canvas: Canvas };

/**
 * A link or form field on a page. `write` returns its own dictionary entries; the caller adds those that all
 * annotations share.
 */
export type Annotation = { element: Element; place: Place; write: (file: ObjectWriter, resources: string) => string };

/** A page. Its pieces of marked content are numbered from 0, and `marks[n]` is the structure element of piece `n`. */
export type Page = { number: number; segments: Segment[]; marks: Element[]; annotations: Annotation[] };

export const short = (value: number): number => Math.round(value * 100) / 100;

/** References of the page tree, of the pages and of all their annotations. */
export type PageRefs = { tree: string; pages: string[]; annotations: string[] };

/**
 * Writes pages, their contents and their page tree to a file.
 * @param parent the reference of the page tree above this one
 * @param isTagged whether structure elements refer to the pages' content
 */
export function writePages(
  file: ObjectWriter,
  {
    pages,
    glyphs,
    pictures,
    parent,
    isTagged,
  }: {
    pages: readonly Page[];
    glyphs: GlyphFonts;
    pictures: readonly Picture[];
    parent: string | null;
    isTagged: boolean;
  },
): PageRefs {
  const tree = file.reserve();
  const images = pictures.map((picture, index) => `/P${index} ${addPicture(file, picture)}`).join("");
  const resources = addResources(file, glyphs, images === "" ? "" : `/XObject<<${images}>>`);
  const refs: string[] = [];
  const annotations: string[] = [];
  for (const page of pages) {
    const own = file.reserve();
    const first = pages.length + annotations.length;
    const ofPage = page.annotations.map(({ place: { x, y, width, height }, write }, index) => {
      const key = isTagged ? `/StructParent ${first + index}` : "";
      const rect = [x, y, x + width, y + height].map(short).join(" ");
      return file.add(`<</Type/Annot/Rect[${rect}]/P ${own.ref}${key}${write(file, resources)}>>`);
    });
    const content = file.stream("", operatorsOf(page, isTagged));
    const annots = ofPage.length > 0 ? `/Annots[${ofPage.join(" ")}]` : "";
    const keys = isTagged ? `/StructParents ${page.number}/Tabs/S` : "";
    own.fill(`<</Type/Page/Parent ${tree.ref}/Resources ${resources}/Contents ${content}${annots}${keys}>>`);
    refs.push(own.ref);
    annotations.push(...ofPage);
  }
  tree.fill(
    `<</Type/Pages${parent === null ? "" : `/Parent ${parent}`}/Count ${refs.length}/Kids[${refs.join(" ")}]` +
      `/MediaBox[0 0 ${pageSize.width} ${pageSize.height}]>>`,
  );
  return { tree: tree.ref, pages: refs, annotations };
}

/** In a tagged file, each segment is marked content of its element, or an artifact (ISO 32000-2, section 14.8.2.2). */
function operatorsOf({ segments }: Page, isTagged: boolean): string {
  if (!isTagged) return segments.map(({ canvas }) => canvas.operators()).join("\n");
  let mark = 0;
  return segments
    .map(({ element, canvas }) => {
      const begin = element ? `/${element.tag}<</MCID ${mark++}>>BDC` : "/Artifact BMC";
      return `${begin}\n${canvas.operators()}\nEMC`;
    })
    .join("\n");
}
