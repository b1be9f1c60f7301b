"""Changes encrypted inputs as no tool would, and writes what says odd things of its encryption."""

import re
import sys
from pathlib import Path

from writer import Pdf

FOLDER = Path(sys.argv[1])


def read(name):
    return (FOLDER / f"{name}.pdf").read_bytes()


def save(name, data):
    (FOLDER / f"{name}.pdf").write_bytes(bytes(data))


def with_permissions(data, value):
    """Another negative P of the same length: the file's key no longer vouches for it."""
    found = re.search(rb"/P -(\d+)", data)
    return data[: found.start(1)] + b"%0*d" % (len(found.group(1)), value) + data[found.end(1) :]


def document(encrypt, **table):
    pdf = Pdf()
    pdf.put(1, b"<</Type/Catalog/Pages 2 0 R/Lang(en)>>")
    pdf.put(2, b"<</Type/Pages/Count 1/Kids[3 0 R]>>")
    pdf.put(3, b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>")
    pdf.table(trailer=b"/Root 1 0 R/Encrypt%s" % encrypt, **table)
    return pdf


save("encrypted-forged-permissions", with_permissions(read("encrypted-open-forbids-all"), 4))
save("encrypted-public-key", document(b"<</Filter/Adobe.PubSec/SubFilter/adbe.pkcs7.s5/V 4/CF<<>>>>").out)
save("encrypted-unpublished", document(b"<</Filter/Standard/V 3/R 3/O()/U()/P -4>>").out)
save("encrypted-missing", document(b" 9 0 R").out)
save("encrypted-broken", bytes(document(b"<</Filter/Standard/V 1/R 2>>").out).replace(b"startxref\n", b"startxref\n1"))
whole = Pdf(header=bytes(read("encrypted-open-rc4-40")))
whole.prev = int(re.findall(rb"startxref\s+(\d+)", bytes(whole.out))[-1])
whole.earlier = 20
whole.put(20, b"(later, in clear)")
whole.table(trailer=b"/Root 1 0 R")
save("encrypted-then-not", whole.out)
