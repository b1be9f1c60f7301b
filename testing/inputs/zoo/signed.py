"""Signs inputs in ways that could affect a later seal. The signer is the openssl program."""

import subprocess
import sys
from pathlib import Path

from writer import Pdf

FOLDER, KEYS = Path(sys.argv[1]), Path(sys.argv[2])
RESERVE = 3000


def sign(pdf, signature_entries=b""):
    """Fills the one Contents of the last revision."""
    start = pdf.out.rindex(b"/Contents<") + len(b"/Contents")
    end = start + 2 * RESERVE + 2
    numbers = b"[0 %d %d %d]" % (start, end, len(pdf.out) - end)
    at = pdf.out.rindex(b"[RANGE" + b" " * 34 + b"]")
    pdf.out[at : at + 41] = numbers.ljust(41)
    covered = bytes(pdf.out[:start] + pdf.out[end:])
    command = ["openssl", "cms", "-sign", "-binary", "-cades", "-md", "sha256", "-outform", "DER"]
    command += ["-signer", str(KEYS / "certificate.pem"), "-inkey", str(KEYS / "key.pem")]
    cms = subprocess.run(command, input=covered, capture_output=True, check=True).stdout
    pdf.out[start + 1 : start + 1 + 2 * len(cms)] = cms.hex().encode()


def signature(reference=b""):
    return (
        b"<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M(D:20240101000000Z)%s"
        b"/ByteRange[RANGE%s]/Contents<%s>>>" % (reference, b" " * 34, b"0" * (2 * RESERVE))
    )


def document(reference=b"", catalog=b"", field=b"", xref="table"):
    pdf = Pdf()
    form = b"/AcroForm<</Fields[5 0 R]/SigFlags 3>>"
    pdf.put(1, b"<</Type/Catalog/Pages 2 0 R%s%s>>" % (form, catalog))
    pdf.put(2, b"<</Type/Pages/Count 1/Kids[3 0 R]>>")
    pdf.put(3, b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Annots[5 0 R]>>")
    pdf.put(5, b"<</Type/Annot/Subtype/Widget/FT/Sig/T(First)/F 132/Rect[0 0 0 0]/P 3 0 R/V 6 0 R%s>>" % field)
    pdf.put(6, signature(reference))
    pdf.table() if xref == "table" else pdf.xref_stream()
    sign(pdf)
    return pdf


def method(name, parameters):
    return b"/Reference[<</Type/SigRef/TransformMethod/%s/TransformParams<</Type/TransformParams/V/1.2%s>>>>]" % (
        name,
        parameters,
    )


def second(pdf):
    """A later approval signature in a second field."""
    pdf.put(3, b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Annots[5 0 R 7 0 R]>>")
    pdf.put(1, b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[5 0 R 7 0 R]/SigFlags 3>>>>")
    pdf.put(7, b"<</Type/Annot/Subtype/Widget/FT/Sig/T(Second)/F 132/Rect[0 0 0 0]/P 3 0 R/V 8 0 R>>")
    pdf.put(8, signature())
    pdf.table(size=9)
    sign(pdf)
    return pdf


certified = b"/Perms<</DocMDP 6 0 R>>"
lock_all = b"/Lock<</Type/SigFieldLock/Action/All%s>>"
files = {
    "signed-once": document(),
    "signed-twice": second(document()),
    "signed-xref-stream": document(xref="stream"),
    "certified-p1": document(method(b"DocMDP", b"/P 1"), certified),
    "certified-p2": document(method(b"DocMDP", b"/P 2"), certified),
    "certified-p3": document(method(b"DocMDP", b"/P 3"), certified),
    "certified-default": document(method(b"DocMDP", b""), certified),
    "locked-fields": document(method(b"FieldMDP", b"/Action/All"), field=lock_all % b""),
    "locked-document": document(method(b"FieldMDP", b"/Action/All/P 1"), field=lock_all % b"/P 1"),
}
for name, pdf in files.items():
    (FOLDER / f"{name}.pdf").write_bytes(bytes(pdf.out))
