"""pyHanko's difference analysis, and its writers, behind JSON lines: one request in, one answer out.

{"judge": base64}                      -> {"signatures": [{"field", "start", "permitted", "why"}, ...]} or {"error": text}
{"validate": base64, "roots": [base64, ...]} and optionally "crls": [base64, ...], "at": instant
                       -> {"validations": [{"field", "valid", "trusted"}, ...]} or {"error": text}
{"make": [operation, ...], "pdf": base64} -> {"pdf": base64} or {"error": text}

A signature is permitted when it covers a revision and what came later is within what it and its locks allow.
Operations: see MAKERS; each is [name, argument, ...].
"""

import base64
import datetime
import io
import json
import logging
import sys

from asn1crypto import keys, x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography import x509 as certificates
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from pyhanko.pdf_utils import generic, writer
from pyhanko.pdf_utils.font.basic import SimpleFontEngineFactory
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign import fields, signers, timestamps
from pyhanko.sign.diff_analysis import DiffResult
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko.sign.validation.dss import DocumentSecurityStore
from pyhanko.sign.validation.status import SignatureCoverageLevel
from pyhanko_certvalidator import ValidationContext
from pyhanko_certvalidator.registry import SimpleCertificateStore

logging.disable(logging.CRITICAL)

name = generic.pdf_name
COVERED = (SignatureCoverageLevel.ENTIRE_FILE, SignatureCoverageLevel.ENTIRE_REVISION)


def judged(signature):
    try:
        coverage = signature.evaluate_signature_coverage()
        signature.compute_integrity_info()
        summary = signature.summarise_integrity_info()
    except Exception as error:
        return False, f"{type(error).__name__}: {error}"
    result = summary["diff_result"]
    why = str(result.modification_level) if isinstance(result, DiffResult) else str(result)
    return bool(coverage in COVERED and summary["docmdp_ok"] is not False), why


def judge(request):
    reader = PdfFileReader(io.BytesIO(base64.b64decode(request["judge"])))
    found = []
    for signature in reader.embedded_signatures:
        permitted, why = judged(signature)
        found.append({"field": signature.field_name, "permitted": permitted, "why": why[:300]})
    return {"signatures": found}


def issued(title, key, usage):
    subject = certificates.Name([certificates.NameAttribute(NameOID.COMMON_NAME, title)])
    start = datetime.datetime(2025, 1, 1)
    made = (
        certificates.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(certificates.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=3650))
        .add_extension(certificates.KeyUsage(True, True, False, False, False, False, False, False, False), True)
    )
    if usage:
        made = made.add_extension(certificates.ExtendedKeyUsage([usage]), True)
    der = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, plain)
    return x509.Certificate.load(der), keys.PrivateKeyInfo.load(secret)


# A key is parsed again for each signature, and RSA keys are checked each time; the stamper accepts
# no other form.
certificate, secret_key = issued("pyHanko signer", ec.generate_private_key(ec.SECP256R1()), None)
tsa_secret = rsa.generate_private_key(public_exponent=65537, key_size=2048)
tsa_certificate, tsa_key = issued("pyHanko TSA", tsa_secret, ExtendedKeyUsageOID.TIME_STAMPING)
registry = SimpleCertificateStore.from_certs([certificate])
signer = signers.SimpleSigner(signing_cert=certificate, signing_key=secret_key, cert_registry=registry)
stamper = timestamps.DummyTimeStamper(tsa_certificate, tsa_key, fixed_dt=datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc))


def sign(out, title, spec=None, **more):
    metadata = signers.PdfSignatureMetadata(
        field_name=title, md_algorithm="sha256", subfilter=fields.SigSeedSubFilter.PADES, **more
    )
    signers.PdfSigner(metadata, signer=signer, new_field_spec=spec).sign_pdf(out, in_place=False, output=(made := io.BytesIO()))
    return made.getvalue()


def certify(out, level):
    return sign(out, "Certified", certify=True, docmdp_permissions=fields.MDPPerm(level))


def approve(out, title):
    return sign(out, title)


def approve_visibly(out, title):
    return sign(out, title, fields.SigFieldSpec(title, on_page=0, box=(300, 40, 500, 90)))


def approve_split(out, title):
    return sign(out, title, fields.SigFieldSpec(title, combine_annotation=False))


def fill_in_signature(out, title):
    return sign(out, title)


def lock(out, title, names):
    spec = fields.FieldMDPSpec(fields.FieldMDPAction.INCLUDE, fields=names)
    return sign(out, title, fields.SigFieldSpec(title, field_mdp_spec=spec))


def lock_all(out, title):
    spec = fields.FieldMDPSpec(fields.FieldMDPAction.ALL)
    return sign(out, title, fields.SigFieldSpec(title, field_mdp_spec=spec))


def stamp(out):
    metadata = io.BytesIO()
    signers.PdfTimeStamper(stamper).timestamp_pdf(out, "sha256", output=metadata)
    return metadata.getvalue()


def store(out):
    DocumentSecurityStore.supply_dss_in_writer(out, None, certs=[certificate, tsa_certificate])
    return written(out)


def written(out):
    made = io.BytesIO()
    out.write(made)
    return made.getvalue()


def form_field(out, title):
    for reference in out.root["/AcroForm"]["/Fields"]:
        if reference.get_object().get("/T") == title:
            return reference.get_object()
    raise KeyError(title)


def appearance(out, text):
    stream = generic.StreamObject(
        {
            name("/Type"): name("/XObject"),
            name("/Subtype"): name("/Form"),
            name("/BBox"): generic.ArrayObject([generic.NumberObject(n) for n in (0, 0, 200, 20)]),
        },
        stream_data=f"/Tx BMC BT ({text}) Tj ET EMC".encode(),
    )
    return out.add_object(stream)


def fill(out, title, text):
    field = form_field(out, title)
    field[name("/V")] = generic.pdf_string(text)
    field[name("/AP")] = generic.DictionaryObject({name("/N"): appearance(out, text)})
    out.update_container(field)
    return written(out)


def page(out, index=0):
    return out.root["/Pages"]["/Kids"][index].get_object()


def note(out, subtype):
    reference = out.add_object(
        generic.DictionaryObject(
            {
                name("/Subtype"): name(subtype),
                name("/Rect"): generic.ArrayObject([generic.NumberObject(n) for n in (10, 10, 90, 90)]),
                name("/Contents"): generic.pdf_string("Please check"),
                name("/QuadPoints"): generic.ArrayObject([generic.NumberObject(n) for n in (10, 90, 90, 90, 10, 10, 90, 10)]),
                name("/AP"): generic.DictionaryObject({name("/N"): appearance(out, "Please check")}),
            }
        )
    )
    out.register_annotation(out.root["/Pages"]["/Kids"].raw_get(0), reference)
    return written(out)


def content(out, text):
    stream = generic.StreamObject(stream_data=text.encode())
    writer.BasePdfFileWriter.add_stream_to_page(out, 0, out.add_object(stream))
    return written(out)


def font(out):
    engine = SimpleFontEngineFactory("Courier", 0.6).create_font_engine(out)
    page(out)["/Resources"]["/Font"][name("/Evil")] = engine.as_resource()
    out.update_container(page(out)["/Resources"]["/Font"])
    return written(out)


def identical(out):
    for reference in (out.root_ref, out.root["/AcroForm"].container_ref):
        out.mark_update(reference)
    return written(out)


MAKERS = {
    "approve": approve,
    "approve split": approve_split,
    "approve visibly": approve_visibly,
    "certify": certify,
    "content": content,
    "fill": fill,
    "font": font,
    "identical": identical,
    "lock": lock,
    "lock all": lock_all,
    "note": note,
    "sign": fill_in_signature,
    "stamp": stamp,
    "store": store,
}


def make(request):
    pdf = base64.b64decode(request["pdf"])
    for operation, *arguments in request["make"]:
        pdf = MAKERS[operation](IncrementalPdfFileWriter(io.BytesIO(pdf)), *arguments)
    return {"pdf": base64.b64encode(pdf).decode()}


def validate(request):
    roots = [x509.Certificate.load(base64.b64decode(root)) for root in request["roots"]]
    reader = PdfFileReader(io.BytesIO(base64.b64decode(request["validate"])))
    revocation = {}
    if "crls" in request:
        revocation = {"crls": [base64.b64decode(one) for one in request["crls"]], "revocation_mode": "hard-fail"}
    if "at" in request:
        # A CRL that was issued after the instant applies to it, too.
        revocation["retroactive_revinfo"] = True
        revocation["moment"] = datetime.datetime.fromisoformat(request["at"].replace("Z", "+00:00"))
    found = []
    for signature in reader.embedded_signatures:
        context = ValidationContext(trust_roots=roots, allow_fetching=False, **revocation)
        status = validate_pdf_signature(signature, signer_validation_context=context)
        found.append({"field": signature.field_name, "valid": status.bottom_line, "trusted": status.trusted})
    return {"validations": found}


ANSWERS = {"judge": judge, "validate": validate, "make": make}

for line in sys.stdin:
    request = json.loads(line)
    try:
        print(json.dumps(next(ANSWERS[key] for key in ANSWERS if key in request)(request)))
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"[:300]}))
