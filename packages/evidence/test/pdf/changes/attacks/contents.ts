import { bodyOf } from "../../../seal/signed-pdf.ts";
import { added, edited, formXObject, metadata, OBJECT, stream } from "../document.ts";
import { type Attack, BUT_3, EVIL, evil, sizeOf, update } from "./attack.ts";

export const lists: readonly Attack[] = [
  update("a content stream through an indirect /Contents array", (signed) => [
    [sizeOf(signed), evil],
    added(signed, OBJECT.contents, `${sizeOf(signed)} 0 R`),
  ]),
  update("a content stream that was there, through an indirect /Contents array", (signed) => [
    added(signed, OBJECT.contents, "44 0 R"),
  ]),
  update("a content stream in place of another in /Contents", [[OBJECT.contents, "[44 0 R]"]]),
  update("no content streams", [[OBJECT.contents, "[]"]]),
  update("a page through an indirect /Kids array", (signed) => [
    [sizeOf(signed), bodyOf(signed, OBJECT.secondPage).replace("8 0 R", "44 0 R")],
    added(signed, OBJECT.kids, `${sizeOf(signed)} 0 R`),
  ]),
  update("the same page twice in /Kids", (signed) => [added(signed, OBJECT.kids, "10 0 R")]),
  update("the pages in another order", [[OBJECT.kids, "[11 0 R 10 0 R]"]]),
  update("a page less", [[OBJECT.kids, "[10 0 R]"]]),
  update("another list of pages", (signed) => [
    [sizeOf(signed), "[11 0 R]"],
    edited(signed, OBJECT.pages, "14 0 R", `${sizeOf(signed)} 0 R`),
  ]),
];

export const contents: readonly Attack[] = [
  update("the page's content rewritten", [[OBJECT.content, evil]]),
  update("the page's content rewritten at the same length", (signed) => [
    edited(signed, OBJECT.content, "Pay 100 to Alice", "Pay 999 to Alice"),
  ]),
  update("a content stream that calls itself metadata", [[OBJECT.content, metadata(EVIL)]], {
    prepared: { content: stream("BT /Helv 18 Tf (Pay) Tj ET", "/Type /Metadata /Subtype /XML") },
  }),
  update(
    "a content stream that calls itself metadata and begins as such",
    [[OBJECT.content, metadata(`% <x:xmpmeta xmlns:x="adobe:ns:meta/">\n${EVIL}`)]],
    { prepared: { content: stream("BT /Helv 18 Tf (Pay) Tj ET", "/Type /Metadata /Subtype /XML") } },
  ),
  update(
    "the document's metadata that is a page's content, too",
    [[OBJECT.secondContent, metadata(`% <x:xmpmeta xmlns:x="adobe:ns:meta/"></x:xmpmeta>\n${EVIL}`)]],
    {
      prepared: {
        catalog: "<< /Type /Catalog /Pages 2 0 R /AcroForm 3 0 R /Metadata 8 0 R >>",
        secondContent: metadata('% <x:xmpmeta xmlns:x="adobe:ns:meta/"></x:xmpmeta>\nBT ET'),
      },
    },
  ),
  update("metadata that are no metadata", [[OBJECT.metadata, stream(EVIL)]]),
  update("a content stream that calls itself a form field", [[OBJECT.content, stream(EVIL, "/FT /Tx /T (x)")]], {
    prepared: { content: stream("BT /Helv 18 Tf (Pay) Tj ET", "/FT /Tx /T (x)") },
  }),
  update("a content stream that calls itself a widget", [[OBJECT.content, stream(EVIL, "/Subtype /Widget")]], {
    prepared: { content: stream("BT /Helv 18 Tf (Pay) Tj ET", "/Subtype /Widget") },
  }),
  update("a content stream that is in the form's fields", [[OBJECT.content, stream(EVIL, "/FT /Tx /T (x)")]], {
    prepared: {
      content: stream("BT /Helv 18 Tf (Pay) Tj ET", "/FT /Tx /T (x)"),
      fields: "[20 0 R 21 0 R 22 0 R 23 0 R 25 0 R 7 0 R]",
    },
  }),
  update("a content stream that is an annotation", [[OBJECT.content, stream(EVIL, "/Type /Annot /Subtype /Text")]], {
    prepared: {
      content: stream("BT /Helv 18 Tf (Pay) Tj ET", "/Type /Annot /Subtype /Text"),
      annots: "[20 0 R 21 0 R 22 0 R 23 0 R 24 0 R 26 0 R 27 0 R 7 0 R]",
    },
  }),
  update("a content stream that is the security store", [[OBJECT.content, stream(EVIL, "/Type /DSS")]], {
    prepared: {
      catalog: "<< /Type /Catalog /Pages 2 0 R /AcroForm 3 0 R /DSS 7 0 R >>",
      content: stream("BT ET", "/Type /DSS"),
    },
  }),
  update("a content stream that is in the security store", [[OBJECT.content, evil]], {
    prepared: { catalog: "<< /Type /Catalog /Pages 2 0 R /AcroForm 3 0 R /DSS << /Certs [7 0 R] >> >>" },
  }),
  update("a certificate of the security store rewritten", [[OBJECT.orphan, evil]], {
    prepared: { catalog: "<< /Type /Catalog /Pages 2 0 R /AcroForm 3 0 R /DSS << /Certs [44 0 R] >> >>" },
  }),
  update("a content stream that is a field's appearance", [[OBJECT.content, formXObject(EVIL)]], {
    prepared: {
      amount:
        "<< /Type /Annot /Subtype /Widget /FT /Tx /T (Amount) /F 4 /Rect [72 600 272 620] /P 10 0 R /V (100) /AP << /N 7 0 R >> >>",
    },
  }),
  update("a content stream that is a field's value", [[OBJECT.content, evil]], {
    prepared: { name: "<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name) /Rect [72 560 272 580] /V 7 0 R >>" },
  }),
  update("an appearance stream that the page draws", [[OBJECT.amountAppearance, formXObject(EVIL)]], {
    prepared: { resources: "<< /Font << /Helv 6 0 R >> /XObject << /X 30 0 R >> >>" },
  }),
  update(
    "a field that the page's resources are",
    (signed) => [edited(signed, OBJECT.amount, "/AP << /N 30 0 R >>", "/AP 44 0 R")],
    {
      prepared: {
        resources: "<< /Font << /Helv 6 0 R >> /XObject 20 0 R >>",
        amount:
          "<< /Type /Annot /Subtype /Widget /FT /Tx /T (Amount) /F 4 /Rect [72 600 272 620] /P 10 0 R /V (100) /AP << /N 30 0 R >> >>",
      },
    },
  ),
  update("an appearance dictionary that the page's resources are", [[OBJECT.orphan, "<< /N 30 0 R /D 7 0 R >>"]], {
    prepared: {
      orphan: "<< /N 30 0 R >>",
      resources: "<< /Font << /Helv 6 0 R >> /XObject 44 0 R >>",
      amount:
        "<< /Type /Annot /Subtype /Widget /FT /Tx /T (Amount) /F 4 /Rect [72 600 272 620] /P 10 0 R /V (100) /AP 44 0 R >>",
    },
  }),
  update(
    "an appearance dictionary of two fields",
    (signed) => [
      [sizeOf(signed), formXObject("1 0 0 rg 0 0 200 20 re f")],
      [OBJECT.orphan, `<< /N ${sizeOf(signed)} 0 R >>`],
    ],
    {
      prepared: {
        orphan: "<< /N 30 0 R >>",
        name: "<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name) /F 4 /Rect [72 560 272 580] /P 10 0 R /AP 44 0 R >>",
        amount:
          "<< /Type /Annot /Subtype /Widget /FT /Tx /T (Amount) /F 4 /Rect [72 600 272 620] /P 10 0 R /V (100) /AP 44 0 R >>",
      },
    },
  ),
  update(
    "the list of annotations that is the page's /Contents, too",
    (signed) => [added(signed, OBJECT.annots, "44 0 R")],
    {
      prepared: {
        secondPage: "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources 17 0 R /Contents 16 0 R >>",
      },
    },
  ),
  update(
    "the information dictionary that the page's resources are",
    [[OBJECT.info, "<< /Font << /Helv 44 0 R >> >>"]],
    {
      prepared: {
        info: "<< /Font << /Helv 6 0 R >> >>",
        page: "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources 13 0 R /Contents 9 0 R /Annots 16 0 R >>",
      },
    },
  ),
  update("information that is a stream", [[OBJECT.info, evil]]),
  update("a font replaced", [[OBJECT.font, "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"]]),
  update("the page's resources replaced", [[OBJECT.resources, "<< /Font << /Helv 44 0 R >> >>"]]),
  update("the page's resources grown", [[OBJECT.resources, "<< /Font << /Helv 6 0 R /Evil 44 0 R >> >>"]]),
  update("a default font replaced in the form", (signed) => [
    [sizeOf(signed), "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"],
    edited(signed, OBJECT.form, "/Helv 6 0 R", `/Helv ${sizeOf(signed)} 0 R`),
  ]),
  update(
    "the form's resources that are the page's, too",
    [[OBJECT.resources, "<< /Font << /Helv 6 0 R /Evil 44 0 R >> >>"]],
    {
      prepared: { form: "<< /Fields 15 0 R /SigFlags 3 /DR 17 0 R /DA (/Helv 0 Tf 0 g) >>" },
    },
  ),
  update("a note's appearance rewritten", [[OBJECT.noteAppearance, formXObject("1 0 0 rg 0 0 612 792 re f")]], {
    forbidden: BUT_3,
  }),
  update("a note changed", (signed) => [edited(signed, OBJECT.note, "(Note)", "(Other note)")], { forbidden: BUT_3 }),
  update("a note that becomes a field", (signed) => [
    edited(signed, OBJECT.note, "/Subtype /Text", "/Subtype /Widget /FT /Tx /T (x)"),
  ]),
  update("an object that nothing leads to, replaced", [[OBJECT.orphan, evil]]),
];
