"""Changes encrypted inputs as no tool would, and writes files with irregular encryption entries."""

import hashlib
import re
import struct
import sys
from pathlib import Path

from writer import Pdf

FOLDER = Path(sys.argv[1])


def read(name):
    return (FOLDER / f"{name}.pdf").read_bytes()


def save(name, data):
    (FOLDER / f"{name}.pdf").write_bytes(bytes(data))


def with_permissions(data, value):
    """Replaces /P by another negative number of the same length, which the file's key then no longer confirms."""
    found = re.search(rb"/P -(\d+)", data)
    return data[: found.start(1)] + b"%0*d" % (len(found.group(1)), value) + data[found.end(1) :]


def document(encrypt, language=b"(en)"):
    pdf = Pdf()
    pdf.put(1, b"<</Type/Catalog/Pages 2 0 R/Lang%s>>" % language)
    pdf.put(2, b"<</Type/Pages/Count 1/Kids[3 0 R]>>")
    pdf.put(3, b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>")
    pdf.table(trailer=b"/Root 1 0 R/Encrypt%s" % encrypt)
    return pdf


def rc4(key, data):
    state, j, out = list(range(256)), 0, bytearray()
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def without_id():
    """RC4 of 40 bits with a key that was derived without an ID: a later revision must not add
    one."""
    padding = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
    owner = rc4(hashlib.md5(b"owner" + padding[:27]).digest()[:5], padding)
    key = hashlib.md5(padding + owner + struct.pack("<i", -4)).digest()[:5]
    user = rc4(key, padding)
    encrypt = b"<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>" % (owner.hex().encode(), user.hex().encode())
    language = rc4(hashlib.md5(key + bytes([1, 0, 0, 0, 0])).digest()[:10], b"en")
    return document(encrypt, language=b"<%s>" % language.hex().encode())


save("encrypted-open-no-id", without_id().out)
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
