"""Writes the inputs that no tool makes: forms of every shape, hybrid files, odd white space, broken and hostile ones."""

import sys
import zlib
from pathlib import Path

from writer import Pdf

FOLDER = Path(sys.argv[1])
CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
PAGES = b"<</Type/Pages/Count 1/Kids[3 0 R]>>"
PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
TEXT = b"BT /F 12 Tf 20 50 Td (By hand) Tj ET"
CONTENT = b"<</Length %d>>\nstream\n%s\nendstream" % (len(TEXT), TEXT)
PLAIN = {1: CATALOG, 2: PAGES, 3: PAGE, 4: CONTENT, 5: FONT}


def save(name, pdf):
    (FOLDER / f"{name}.pdf").write_bytes(bytes(pdf.out if isinstance(pdf, Pdf) else pdf))


def body(objects=None, **how):
    pdf = Pdf(**how)
    for num, value in {**PLAIN, **(objects or {})}.items():
        pdf.put(num, value)
    return pdf


def with_table(objects=None, how=None, **table):
    pdf = body(objects, **(how or {}))
    pdf.table(**table)
    return pdf


def page_with(entries):
    return PAGE[:-2] + entries + b">>"


def forms():
    widget = b"<</Type/Annot/Subtype/Widget/FT/Tx/T(Name)/V(Ada)/Rect[20 20 120 40]/P 3 0 R/F 4/DA(/F 10 Tf 0 g)>>"
    resources = b"/DR<</Font<</F 5 0 R>>>>/DA(/F 10 Tf 0 g)"
    direct = {1: b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[6 0 R]%s>>>>" % resources}
    shapes = {
        "form-direct": {**direct, 3: page_with(b"/Annots[6 0 R]"), 6: widget},
        "form-indirect": {
            1: b"<</Type/Catalog/Pages 2 0 R/AcroForm 7 0 R>>",
            3: page_with(b"/Annots [ 6 0 R ] % the only one\n"),
            6: widget,
            7: b"<</Fields[6 0 R]/NeedAppearances true%s>>" % resources,
        },
        "form-odd-strings": {
            1: b"<</Type/Catalog/Pages 2 0 R/AcroForm 7 0 R>>",
            3: page_with(b"/Annots[6 0 R]"),
            6: widget,
            7: b"<</Fields[6 0 R]/X(a\\)>>(b)endobj\\\n)/Y<41 4>/Z[(]) <5D>]%s>>" % resources,
        },
        "form-indirect-arrays": {
            1: b"<</Type/Catalog/Pages 2 0 R/AcroForm 7 0 R>>",
            3: page_with(b"/Annots 9 0 R"),
            6: widget,
            7: b"<</Fields 8 0 R/SigFlags 0%s>>" % resources,
            8: b"[6 0 R % a comment with ] in it\n]",
            9: b"[6 0 R]",
        },
        "form-shared-array": {
            1: b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields 8 0 R>>>>",
            3: page_with(b"/Annots 8 0 R"),
            6: widget,
            8: b"[6 0 R]",
        },
        "form-no-fields": {1: b"<</Type/Catalog/Pages 2 0 R/AcroForm<</DA(/F 10 Tf)>>>>"},
        "form-null-annots": {
            1: b"<</Type/Catalog/Pages 2 0 R/AcroForm null>>",
            3: page_with(b"/Annots null"),
        },
        "form-hierarchy": {
            1: b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[7 0 R]/SigFlags 1%s>>>>" % resources,
            3: page_with(b"/Annots[6 0 R]"),
            6: b"<</Type/Annot/Subtype/Widget/Parent 7 0 R/T(inner)/FT/Sig/Rect[0 0 0 0]/P 3 0 R/F 132>>",
            7: b"<</T(outer)/Kids[6 0 R]>>",
        },
        "form-missing-field": {**direct, 3: page_with(b"/Annots[6 0 R]")},
    }
    for name, objects in shapes.items():
        save(name, with_table(objects))


def odd_but_good():
    names = {1: b"<</Typ#65/Cat#61log/P#61ges 2 0 R>>"}
    save("names-escaped", with_table(names))
    save("strings-odd", with_table({1: CATALOG[:-2] + b"/X(a\\)>>(b)endobj)/Y<41 4>/Z[(]) <5D>]>>"}))
    save("comments-everywhere", with_table({1: b"<</Type%>>\n/Catalog%]\r/Pages%2 0 R\n2 %x\n0 R>>"}))
    save("table-crlf", with_table(eol=b"\r\n"))
    save("table-19-bytes", with_table(eol=b"\n"))
    save("table-21-bytes", with_table(eol=b" \r\n"))
    save("table-hole", with_table({9: FONT}))
    save("no-eof-marker", with_table(end=b""))
    save("no-final-newline", with_table(end=b"%%EOF"))
    save("size-too-small", with_table({6: FONT}, size=4))
    save("repeated-key", with_table({3: page_with(b"/Rotate 0/Rotate 0")}))
    save("generation", generation())
    save("junk-before", with_table(how={"junk": b"HTTP/1.1 200 OK\r\n\r\n"}))
    save("junk-before-absolute", with_table(how={"junk": b"HTTP/1.1 200 OK\r\n\r\n", "base": 0}))
    save("junk-bom", with_table(how={"junk": b"\xef\xbb\xbf"}))
    save("junk-after", with_table(end=b"%%EOF\n" + b"\0" * 3000 + b"<html>trailing</html>"))
    save("junk-after-signature", with_table(end=b"%%EOF\r\n--boundary--"))
    deep = {1: CATALOG, 2: b"<</Type/Pages/Count 1/Kids[6 0 R 7 0 R]>>", 3: PAGE.replace(b"2 0 R", b"7 0 R")}
    deep |= {6: b"<</Type/Pages/Count 0/Kids[]/Parent 2 0 R>>", 7: b"<</Type/Pages/Count 1/Kids[3 0 R]/Parent 2 0 R>>"}
    save("empty-branch-first", with_table(deep))
    for predictor in (10, 11, 12, 13, 14, 15):
        pdf = body()
        pdf.xref_stream(predictor=predictor)
        save(f"xref-stream-predictor-{predictor}", pdf)
    for widths in ((8, 8, 8), (2, 7, 5)):
        pdf = body()
        pdf.xref_stream(widths=widths)
        save("xref-stream-widths-%d%d%d" % widths, pdf)
    save("prev-zero", with_table(prev=0))
    save("hybrid", hybrid())
    save("catalog-in-object-stream", compressed())
    save("junk-before-xref-stream", compressed(junk=b"From: mail\n"))
    save("incremental-table", incremental("table", "table"))
    save("incremental-stream", incremental("stream", "stream"))
    save("incremental-mixed", incremental("table", "stream"))
    save("incremental-twenty", incremental("table", *["table"] * 20))


def generation():
    pdf = body({3: FONT, 2: b"<</Type/Pages/Count 1/Kids[3 2 R]>>"})
    pdf.put(3, PAGE, gen=2)
    pdf.table()
    return pdf


def hybrid():
    pdf = Pdf()
    for num in (3, 4, 5):
        pdf.put(num, PLAIN[num])
    pdf.put(1, CATALOG[:-2] + b"/AcroForm 7 0 R>>")
    pdf.put(2, PAGES)
    pdf.object_stream(6, {7: b"<</Fields[]/DA(/F 10 Tf)>>"})
    at = pdf.xref_stream(num=8, startxref=False, only=[6])
    pdf.table(trailer=b"/Root 1 0 R/XRefStm %d" % at)
    return pdf


def compressed(**how):
    pdf = Pdf(**how)
    pdf.put(4, CONTENT)
    pdf.object_stream(6, {1: CATALOG, 2: PAGES, 3: PAGE, 5: FONT})
    pdf.xref_stream()
    return pdf


def incremental(first, *later, first_prev=None):
    pdf = body()
    finish(pdf, first, first_prev)
    for number, kind in enumerate(later):
        pdf.put(3, page_with(b"/Rotate %d" % (90 * (number % 4))))
        finish(pdf, kind)
    return pdf


def finish(pdf, kind, prev=None):
    if kind == "table":
        pdf.table(prev=prev)
    else:
        pdf.xref_stream()


def broken():
    good = bytes(with_table().out)
    save("broken-empty", b"")
    save("broken-text", b"Dear Sir or Madam, this is not a document.\n" * 40)
    save("broken-html", b"<!doctype html><title>not found</title>" + b" " * 2000 + b"%PDF-1.4")
    save("broken-truncated", good[: len(good) // 2])
    save("broken-truncated-table", good[: good.rindex(b"trailer") - 30])
    save("broken-truncated-startxref", good[: good.rindex(b"startxref") + 10])
    save("broken-lost-revision", good + b"6 0 obj\n<</Lost true>>\nendobj\n")
    save("broken-wrong-startxref", good.replace(b"startxref\n", b"startxref\n1"))
    save("broken-startxref-zero", good[: good.rindex(b"startxref")] + b"startxref\n0\n%%EOF\n")
    shifted = good.replace(b"%PDF-1.7\n", b"%PDF-1.7\n%inserted\n")
    at = shifted.rindex(b"xref\n0")
    save("broken-offsets", shifted[: shifted.rindex(b"startxref")] + b"startxref\n%d\n%%%%EOF\n" % at)
    save("broken-prev-zero-section", prev_zero_section())
    save("broken-no-root", with_table(trailer=b""))
    save("broken-root-missing", with_table(trailer=b"/Root 99 0 R"))
    save("broken-root-number", with_table({1: b"42"}))
    save("broken-root-type", with_table(trailer=b"/Root 5 0 R"))
    save("broken-ambiguous-root", with_table({1: b"<</Type/Catalog/Pages 2 0 R/Pages 5 0 R>>"}))
    save("broken-dictionary", with_table({1: b"<</Type/Catalog/Pages 2 0 R"}))
    save("broken-annots", with_table({3: page_with(b"/Annots 42")}))
    save("broken-fields", with_table({1: CATALOG[:-2] + b"/AcroForm<</Fields 7>>>>"}))
    save("broken-form-is-stream", with_table({1: CATALOG[:-2] + b"/AcroForm 4 0 R>>"}))
    save("broken-direct-page", with_table({2: b"<</Type/Pages/Count 1/Kids[%s]>>" % PAGE}))
    save("no-pages-tree", with_table({1: b"<</Type/Catalog>>"}))
    save("no-pages-kids", with_table({2: b"<</Type/Pages/Count 0/Kids[]>>"}))
    save("no-pages-missing", with_table({1: b"<</Type/Catalog/Pages 77 0 R>>"}))
    save("encrypted-by-trailer", with_table(trailer=b"/Root 1 0 R/Encrypt<</Filter/Standard/V 1/R 2>>"))


def prev_zero_section():
    """A section begins at byte 0, so readers disagree on whether /Prev 0 refers to it."""
    pdf = body(header=b"%PDF-1.7\nxref\n1 1\n0000000000 65535 f \ntrailer\n<</Size 1>>\n")
    pdf.table(prev=0)
    return pdf


def hostile():
    save("cycle-prev-self", with_table(prev=len(body().out)))
    pair = bytes(incremental("table", "table", first_prev=7_777_777).out)
    save("cycle-prev-pair", pair.replace(b"7777777", b"%07d" % pair.rindex(b"xref\n", 0, pair.rindex(b"startxref"))))
    save("chain-of-prevs", incremental("table", *["table"] * 1100))
    save("cycle-pages", with_table({2: b"<</Type/Pages/Count 1/Kids[2 0 R]>>"}))
    save("cycle-references", with_table({1: b"7 0 R", 7: b"1 0 R"}))
    save("cycle-page-nodes", with_table({2: b"<</Type/Pages/Kids[6 0 R]>>", 6: b"<</Type/Pages/Kids[2 0 R]>>"}))
    fields = {1: CATALOG[:-2] + b"/AcroForm<</Fields[6 0 R]>>>>", 6: b"<</T(a)/Kids[7 0 R]>>", 7: b"<</T(b)/Kids[6 0 R]>>"}
    save("cycle-fields", with_table(fields))
    save("deep-arrays", with_table({1: CATALOG[:-2] + b"/X" + b"[" * 50_000 + b"]" * 50_000 + b">>"}))
    save("deep-dictionaries", with_table({1: CATALOG[:-2] + b"/X" + b"<</X" * 9_000 + b" 1" + b">>" * 9_000 + b">>"}))
    save("huge-object-numbers", with_table(size=2**31))
    save("huge-subsection", bytes(with_table().out).replace(b"xref\n0 6\n", b"xref\n0 999999999\n", 1))
    save("bomb-object-stream", bomb(b"/Type/ObjStm/N 5/First 20", 6))
    save("bomb-xref-stream", xref_bomb())
    pdf = compressed()
    save("object-stream-wrong-length", bytes(pdf.out).replace(b"/First ", b"/First 9", 1))
    save("object-stream-in-itself", in_itself())


def bomb(entries, num):
    pdf = Pdf()
    pdf.put(4, CONTENT)
    pdf.compressed = {1: (num, 0), 2: (num, 1), 3: (num, 2), 5: (num, 3)}
    packed = zlib.compress(b"1 0 2 40 3 80 5 200 " + b" " * 90_000_000, 9)
    pdf.stream(num, entries + b"/Filter/FlateDecode", packed)
    pdf.xref_stream()
    return pdf


def xref_bomb():
    pdf = body()
    at = len(pdf.out)
    packed = zlib.compress(bytes(90_000_000), 9)
    pdf.stream(6, b"/Type/XRef/Size 7/W[1 4 2]/Root 1 0 R/Filter/FlateDecode", packed)
    pdf.out += b"startxref\n%d\n%%%%EOF\n" % at
    return pdf


def in_itself():
    pdf = Pdf()
    pdf.put(4, CONTENT)
    pdf.compressed = {1: (6, 0), 6: (6, 1)}
    pdf.xref_stream(num=7)
    return pdf


forms()
odd_but_good()
broken()
hostile()
