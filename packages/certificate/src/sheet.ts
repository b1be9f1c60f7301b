import { type Canvas, createCanvas } from "./canvas.ts";
import { createGlyphFonts } from "./fonts/glyph-fonts.ts";
import { type Annotation, type Page, type Place, short, writePages } from "./pages.ts";
import { type ObjectWriter, pdfText, sealFieldName } from "./pdf-file.ts";
import type { Picture } from "./picture.ts";
import { createStructure, type Structure } from "./structure.ts";

/** Pages to draw on. */
export type Sheets = Omit<Canvas, "operators"> & {
  /** Adds a page, and makes it the page to draw on. */
  newPage: () => void;
  /** Returns to an earlier page, counted from 0. */
  turnTo: (page: number) => void;
  pageCount: () => number;
  tagged: Structure["tagged"];
  /** Draws a picture over the whole rectangle. */
  picture: (place: Place, picture: Picture) => void;
  /** Adds a link to a URL, as part of the open structure element. */
  link: (place: Place, url: string) => void;
  /** Places the visible seal, at most once. `draw` draws it; the origin is the lower left corner of `place`. */
  seal: (place: Place, description: string, draw: (canvas: Canvas) => void) => void;
  /**
   * Adds the pages to a file.
   * @param parent the reference of the page tree above the pages
   * @returns the reference of the pages' own tree
   */
  addTo: (file: ObjectWriter, parent: string | null) => string;
  /**
   * Adds pages, structure and form to a file.
   * @returns the entries of its catalog
   */
  addWholeTo: (file: ObjectWriter) => string;
};

export function createSheets(): Sheets {
  const glyphs = createGlyphFonts();
  const structure = createStructure();
  const emptyPage = (): Page => ({ number: pages.length, segments: [], marks: [], annotations: [] });
  const pages: Page[] = [];
  const pictures: Picture[] = [];
  let page = emptyPage();

  function canvas(): Canvas {
    const element = structure.current();
    const last = page.segments.at(-1);
    if (last?.element === element) return last.canvas;
    const segment = { element, canvas: createCanvas(glyphs) };
    page.segments.push(segment);
    if (element) element.kids.push({ page: page.number, mark: page.marks.push(element) - 1 });
    return segment.canvas;
  }

  function annotate(place: Place, write: Annotation["write"]): void {
    const element = structure.current();
    if (!element) throw new Error("an annotation belongs to an element");
    const annotation = pages.reduce((sum, { annotations }) => sum + annotations.length, 0);
    page.annotations.push({ element, place, write });
    element.kids.push({ page: page.number, annotation });
  }

  return {
    newPage() {
      page = emptyPage();
      pages.push(page);
    },
    turnTo(number) {
      page = pages[number] ?? page;
    },
    pageCount: () => pages.length,
    tagged: structure.tagged,
    text: (...args) => canvas().text(...args),
    rectangle: (...args) => canvas().rectangle(...args),
    drawing: (...args) => canvas().drawing(...args),
    picture({ x, y, width, height }, picture) {
      const name = `/P${pictures.push(picture) - 1}`;
      canvas().drawing(x, y, 1, `${short(width)} 0 0 ${short(height)} 0 0 cm ${name} Do`);
    },
    link(place, url) {
      const uri = encodeURI(decodeURI(url)).replace(/[\\()]/g, "\\$&");
      annotate(
        place,
        () => `/Subtype/Link/F 4/Border[0 0 0]/Contents${pdfText(url)}/A<</Type/Action/S/URI/URI(${uri})>>`,
      );
    },
    seal(place, description, draw) {
      const seen = createCanvas(glyphs);
      draw(seen);
      annotate(place, (file, resources) => {
        const box = `/BBox[0 0 ${short(place.width)} ${short(place.height)}]`;
        const appearance = file.stream(`/Type/XObject/Subtype/Form${box}/Resources ${resources}`, seen.operators());
        return `/Subtype/Widget/FT/Sig/T(${sealFieldName})/TU${pdfText(description)}/F 132/AP<</N ${appearance}>>`;
      });
    },
    addTo: (file, parent) => writePages(file, { pages, glyphs, pictures, parent, isTagged: false }).tree,
    addWholeTo(file) {
      const { tree, ...refs } = writePages(file, { pages, glyphs, pictures, parent: null, isTagged: true });
      const ofAll = pages.flatMap((each) => each.annotations);
      const named = ofAll.map(({ element }, index) => [refs.annotations[index] ?? "null", element] as const);
      const marks = pages.map((each) => each.marks);
      const root = structure.addTo(file, refs.pages, marks, named);
      const fields = named.filter(([, { tag }]) => tag === "Form").map(([ref]) => ref);
      const form = fields.length > 0 ? `/AcroForm<</Fields[${fields.join(" ")}]/SigFlags 3>>` : "";
      return `/Pages ${tree}/StructTreeRoot ${root}/MarkInfo<</Marked true>>${form}`;
    },
  };
}
