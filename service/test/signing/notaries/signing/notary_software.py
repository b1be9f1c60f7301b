"""Software of notaries, by pyHanko, behind one JSON document in and one out.

{"people": {name: [not_before, not_after]}, "sign": [{"pdf": base64, "as": name, "notes": text | null}]}
  -> {"certificates": {name: PEM}, "pdfs": [base64, ...]}

Each document is signed in a new visible field, in a revision of its own; with `notes`, a text field with it is added there, too.
"""

import base64
import datetime
import io
import json
import sys

from asn1crypto import keys, x509
from cryptography import x509 as certificates
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import fields, signers
from pyhanko_certvalidator.registry import SimpleCertificateStore

name = generic.pdf_name


def certified(person, begins, ends):
    key = ec.generate_private_key(ec.SECP256R1())
    subject = certificates.Name([certificates.NameAttribute(NameOID.COMMON_NAME, person)])
    made = (
        certificates.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(certificates.random_serial_number())
        .not_valid_before(datetime.datetime.fromisoformat(begins))
        .not_valid_after(datetime.datetime.fromisoformat(ends))
        .add_extension(certificates.KeyUsage(True, True, False, False, False, False, False, False, False), True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    certificate = x509.Certificate.load(made.public_bytes(serialization.Encoding.DER))
    signer = signers.SimpleSigner(certificate, keys.PrivateKeyInfo.load(secret), SimpleCertificateStore.from_certs([certificate]))
    return made.public_bytes(serialization.Encoding.PEM).decode(), signer


def annotate(out, text, box):
    reference = out.add_object(
        generic.DictionaryObject(
            {
                name("/Type"): name("/Annot"),
                name("/Subtype"): name("/FreeText"),
                name("/Rect"): generic.ArrayObject([generic.NumberObject(n) for n in box]),
                name("/Contents"): generic.pdf_string(text),
                name("/DA"): generic.pdf_string("/Helv 9 Tf"),
            }
        )
    )
    out.register_annotation(out.root["/Pages"]["/Kids"].raw_get(0), reference)


def sign(pdf, signer, request):
    out = IncrementalPdfFileWriter(io.BytesIO(pdf), strict=False)
    if request.get("notes"):
        annotate(out, request["notes"], request.get("notesBox") or (50, 100, 500, 140))
    field = request.get("field")
    metadata = signers.PdfSignatureMetadata(
        field_name=field or f"Notary{len(pdf)}", md_algorithm="sha256", subfilter=fields.SigSeedSubFilter.PADES
    )
    box = tuple(request.get("box") or (300, 40, 500, 90))
    spec = None if field else fields.SigFieldSpec(metadata.field_name, on_page=0, box=box)
    made = io.BytesIO()
    signers.PdfSigner(metadata, signer=signer, new_field_spec=spec).sign_pdf(out, output=made)
    return made.getvalue()


for line in sys.stdin:
    request = json.loads(line)
    if "people" in request:
        people = {person: certified(person, *dates) for person, dates in request["people"].items()}
        print(json.dumps({person: pem for person, (pem, _) in people.items()}), flush=True)
    else:
        made = sign(base64.b64decode(request["pdf"]), people[request["as"]][1], request)
        print(json.dumps(base64.b64encode(made).decode()), flush=True)
