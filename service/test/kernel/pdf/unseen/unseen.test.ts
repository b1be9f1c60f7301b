import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { appendRevision, bodyOf, type NewObject } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { PdfRefusal } from "../../../../src/kernel/pdf/refusal.ts";
import { quoted, UnseenContent } from "../../../../src/kernel/pdf/unseen/notice.ts";
import { unseenIn } from "../../../../src/kernel/pdf/unseen/unseen.ts";

type Additions = { page?: string; catalog?: string; objects?: NewObject[] };

/** A document of one page, with further entries in its page and catalog, and further objects. */
function made({ page = "", catalog = "", objects = [] }: Additions) {
  const bare = makePdf().toString("latin1");
  const changed: NewObject[] = [
    [5, bodyOf(bare, 5).replace(/ >>$/, ` ${page} >>`)],
    [1, bodyOf(bare, 1).replace(/ >>$/, ` ${catalog} >>`)],
  ];
  return Buffer.from(appendRevision(bare, [...changed, ...objects]), "latin1");
}

const stream = (entries: string): string => `<< ${entries} /Length 0 >>\nstream\n\nendstream`;
const annotation = (entries: string) => `/Annots [<< /Type /Annot /Rect [10 10 90 90] ${entries} >>]`;
const layer = (usage: string, state = ""): Additions => ({
  catalog: `/OCProperties << /OCGs [20 0 R] /D << ${state} >> >>`,
  objects: [[20, `<< /Type /OCG /Name (Watermark) ${usage} >>`]],
});

describe("refuses", () => {
  const print = /^page 1 has an annotation that is printed and not shown on screens$/;
  const layers = /^the layer "Watermark" can differ on screens and in print$/;
  const elsewhere = /^a part of its content is in another file$/;
  const cases: [what: string, document: Additions, why: RegExp][] = [
    ["a stamp that is printed and not viewed", { page: annotation("/Subtype /Stamp /F 36") }, print],
    ["a link that is printed and not viewed", { page: annotation("/Subtype /Link /F 36 /AP << /N 4 0 R >>") }, print],
    ["a link's border that is printed and not viewed", { page: annotation("/Subtype /Link /F 36") }, print],
    [
      "a note's window that is printed and not viewed",
      { page: annotation("/Subtype /Popup /F 36 /AP << /N 4 0 R >>") },
      print,
    ],
    ["one that is viewed under the pointer alone", { page: annotation("/Subtype /Stamp /F 260") }, print],
    [
      "one whose flags are a reference",
      { page: annotation("/Subtype /Stamp /F 20 0 R"), objects: [[20, "36"]] },
      print,
    ],
    ["one whose flags are a number with a fraction", { page: annotation("/Subtype /Stamp /F 36.0") }, print],
    [
      "a layer that is off on screens and printed",
      layer("/Usage << /Print << /PrintState /ON >> >>", "/OFF [20 0 R]"),
      layers,
    ],
    ["a layer that is on and not printed", layer("/Usage << /Print << /PrintState /OFF >> >>"), layers],
    ["a layer that usage turns off on screens", layer("/Usage << /View << /ViewState /OFF >> >>"), layers],
    [
      "a layer that is printed where all are off at first",
      layer("/Usage << /Print << /PrintState /ON >> >>", "/BaseState /OFF"),
      layers,
    ],
    ["an external stream", { page: "/X 20 0 R", objects: [[20, stream("/F (http://a.example/b)")]] }, elsewhere],
    [
      "a form that is a page of another file",
      { page: "/X 20 0 R", objects: [[20, stream("/Subtype /Form /Ref << /F (b.pdf) /Page 0 >>")]] },
      elsewhere,
    ],
    ["PostScript", { page: "/X 20 0 R", objects: [[20, stream("/Type /XObject /Subtype /PS")]] }, /^it has PostScript/],
    [
      "an image with another one for printing",
      {
        page: "/X 20 0 R",
        objects: [[20, stream("/Subtype /Image /Alternates [<< /Image 4 0 R /DefaultForPrinting true >>]")]],
      },
      /^it has another picture for printing$/,
    ],
    ["a picture with an OPI proxy", { page: "/X 20 0 R", objects: [[20, stream("/OPI << >>")]] }, /OPI/],
    ["a portfolio", { catalog: "/Collection << /View /D >>" }, /^it is a portfolio/],
    [
      "a dynamic XFA form",
      { catalog: "/NeedsRendering true /AcroForm << /Fields [] /XFA 20 0 R >>", objects: [[20, stream("")]] },
      /^it is an XFA form/,
    ],
  ];
  for (const [what, document, why] of cases)
    test(what, () => {
      assert.throws(
        () => unseenIn(made(document)),
        (error) => error instanceof UnseenContent && why.test(error.message),
      );
    });
});

describe("names", () => {
  const script = "<< /S /JavaScript /JS (app.alert) >>";
  const file = "<< /Type /Filespec /UF (terms.pdf) /EF << /F 20 0 R >> >>";
  const note = (code: string, page: number | null = null, text: string | null = null) => [{ code, page, text }];
  const active = (text: string) => note("active_content", null, text);
  const cases: [what: string, document: Additions, notices: object[]][] = [
    ["JavaScript on opening", { catalog: `/OpenAction ${script}` }, active("JavaScript")],
    ["JavaScript of a page", { page: `/AA << /O ${script} >>` }, active("JavaScript")],
    [
      "JavaScript of the document",
      { catalog: `/Names << /JavaScript << /Names [(a) ${script}] >> >>` },
      active("JavaScript"),
    ],
    [
      "JavaScript after another action",
      { catalog: `/OpenAction << /S /GoTo /Next ${script} >>` },
      active("JavaScript"),
    ],
    [
      "JavaScript of a link, in an object of its own",
      { page: annotation("/Subtype /Link /A 20 0 R"), objects: [[20, script]] },
      active("JavaScript"),
    ],
    ["a switch of layers", { catalog: "/OpenAction << /S /SetOCGState /State [] >>" }, active("SetOCGState")],
    [
      "actions that hide and reset, in one notice",
      { page: "/AA << /O << /S /Hide >> /C << /S /ResetForm >> >>" },
      active("Hide, ResetForm"),
    ],
    [
      "a static XFA form",
      { catalog: "/AcroForm << /Fields [] /XFA 20 0 R >>", objects: [[20, stream("")]] },
      note("xfa_form"),
    ],
    [
      "values that readers draw",
      {
        catalog: "/AcroForm << /Fields [20 0 R] /NeedAppearances true >>",
        objects: [[20, "<< /FT /Tx /T (a) /V (b) >>"]],
      },
      note("drawn_by_readers"),
    ],
    ["a layer that is off", layer("", "/OFF [20 0 R]"), note("hidden_layer", null, "Watermark")],
    [
      "an annotation that is not printed",
      { page: annotation("/Subtype /Stamp /F 0 /AP << /N 4 0 R >>") },
      note("screen_only", 1),
    ],
    [
      "a link with an appearance that is not printed",
      { page: annotation("/Subtype /Link /F 0 /AP << /N 4 0 R >>") },
      note("screen_only", 1),
    ],
    ["another crop on paper", { catalog: "/ViewerPreferences << /PrintArea /TrimBox >>" }, note("print_differs")],
    [
      "another clip on paper, by a reference",
      { catalog: "/ViewerPreferences 20 0 R", objects: [[20, "<< /PrintClip /ArtBox >>"]] },
      note("print_differs"),
    ],
    ["fewer pages on paper", { catalog: "/ViewerPreferences << /PrintPageRange [1 1] >>" }, note("print_differs")],
    [
      "a watermark with a place of its own on paper",
      { page: annotation("/Subtype /Watermark /F 4 /AP << /N 4 0 R >> /FixedPrint << /Type /FixedPrint >>") },
      note("print_differs", 1),
    ],
    ["a film", { page: annotation("/Subtype /Screen /F 4") }, note("media", 1)],
    [
      "an attached file",
      { catalog: `/Names << /EmbeddedFiles << /Names [(a) ${file}] >> >>`, objects: [[20, stream("")]] },
      note("attached_files", null, "terms.pdf"),
    ],
    [
      "an object that can't be read",
      { catalog: "/X 20 0 R", objects: [[20, "<< /A (not closed >>"]] },
      note("partly_examined"),
    ],
    ["a stream that is reached by a key that stands twice", { page: "/Contents 20 0 R" }, note("partly_examined")],
    ["a key that stands twice", { catalog: "/X << /S /GoTo /S /JavaScript >>" }, note("partly_examined")],
  ];
  for (const [what, document, notices] of cases) test(what, () => assert.deepEqual(unseenIn(made(document)), notices));
});

describe("reports nothing about", () => {
  const cases: [what: string, document: Additions][] = [
    ["a link to an address", { page: annotation("/Subtype /Link /A << /S /URI /URI (https://a.example) >>") }],
    ["a link to a page", { catalog: "/OpenAction << /S /GoTo /D [5 0 R /Fit] >>" }],
    ["a stamp that is shown and printed", { page: annotation("/Subtype /Stamp /F 4 /AP << /N 4 0 R >>") }],
    ["a note's window without an appearance", { page: annotation("/Subtype /Popup /F 36") }],
    [
      "preferences that print what screens show",
      { catalog: "/ViewerPreferences << /PrintArea /CropBox /PrintClip /CropBox /NumCopies 2 >>" },
    ],
    ["a watermark that is printed where it is shown", { page: annotation("/Subtype /Watermark /F 4") }],
    ["a hidden annotation", { page: annotation("/Subtype /Stamp /F 38") }],
    ["a print-only annotation without an area", { page: "/Annots [<< /Subtype /Stamp /F 36 /Rect [0 0 0 0] >>]" }],
    ["a layer that is on and printed", layer("/Usage << /View << /ViewState /ON >> /Print << /PrintState /ON >> >>")],
    ["a structure element of the name of an action", { catalog: "/StructTreeRoot << /K << /S /Sound >> >>" }],
    ["a file attachment's name without its file", { catalog: "/X << /Type /Filespec /F (a.pdf) >>" }],
    ["objects that lead to each other", { catalog: "/X 20 0 R", objects: [[20, "<< /A [20 0 R] /B 1 0 R >>"]] }],
  ];
  for (const [what, document] of cases) test(what, () => assert.deepEqual(unseenIn(made(document)), []));
});

test("reads every document of the zoo, or refuses it by name", () => {
  for (const { name } of zooFiles())
    try {
      unseenIn(zooBytes(name));
    } catch (error) {
      assert.ok(error instanceof PdfRefusal || error instanceof UnseenContent, `${name}: ${error}`);
    }
});

test("quotes a text in one line of at most 200 characters, without marks that change its direction", () => {
  assert.equal(quoted("  a\n\tb\u202e\u0000c "), "a b c");
  assert.equal([...quoted("𝒳".repeat(300))].length, 200);
});
