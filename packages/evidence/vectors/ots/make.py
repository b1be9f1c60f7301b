#!/usr/bin/python3
"""Writes the OpenTimestamps vectors next to this file, with Debian's python3-opentimestamps.

accept/*.ots are serialized by the reference; reject/*.ots are put together byte by byte. index.json tells of each
accepted file what it commits to (message, kind or unknown tag, address or height or payload), of each rejected one
the error code, and whether the reference refuses it too. Run it again after a change: ./make.py
"""

import json
import pathlib
import warnings

from opentimestamps.core import notary, op, serialize, timestamp
from opentimestamps.core.dubious.notary import EthereumBlockHeaderAttestation

warnings.simplefilter("ignore")
here = pathlib.Path(__file__).parent
GENESIS_ROOT = bytes.fromhex("3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a")
DIGEST = bytes(range(32))
BITCOIN = bytes.fromhex("000588960d73d7190103f7ef15")
HEAD = timestamp.DetachedTimestampFile.HEADER_MAGIC + b"\x01\x08" + DIGEST
NAMES = {
    notary.BitcoinBlockHeaderAttestation: "bitcoin",
    notary.LitecoinBlockHeaderAttestation: "litecoin",
    EthereumBlockHeaderAttestation: "ethereum",
}


def pending(uri):
    return notary.PendingAttestation(uri)


def proof(grow, digest=DIGEST, hash_op=op.OpSHA256):
    stamp = timestamp.Timestamp(digest)
    grow(stamp)
    return timestamp.DetachedTimestampFile(hash_op(), stamp)


def chained(stamp, *ops):
    for one in ops:
        stamp = stamp.ops.add(one)
    return stamp


def attest(stamp, *attestations):
    stamp.attestations.update(attestations)


def two_calendars(stamp):
    shared = chained(stamp, op.OpPrepend(b"\x65\x43\x21\x00"), op.OpSHA256())
    attest(chained(shared, op.OpAppend(b"\x01" * 8)), pending("https://alice.calendar.example"))
    attest(chained(shared, op.OpAppend(b"\x02" * 8)), pending("https://bob.calendar.example"))


def every_operation(stamp):
    ops = [op.OpAppend(b"tail"), op.OpPrepend(b"head"), op.OpReverse(), op.OpHexlify(), op.OpSHA1(), op.OpRIPEMD160()]
    attest(chained(stamp, *ops, op.OpKECCAK256(), op.OpSHA256()), notary.BitcoinBlockHeaderAttestation(358391))


def every_attestation(stamp):
    attest(stamp, pending("https://a.example"), pending("https://a.example:14788/path"), pending(""))
    attest(stamp, *(kind(height) for kind in NAMES for height in (0, 127, 128, 256, 358391)))
    attest(stamp, notary.UnknownAttestation(b"\x01" * 8, b""), notary.UnknownAttestation(b"\xfe" * 8, bytes(200)))


def upgraded(stamp):
    promised = chained(stamp, op.OpAppend(b"\x11" * 16), op.OpSHA256())
    attest(promised, pending("https://a.example"))
    attest(chained(promised, op.OpPrepend(b"\x22" * 32), op.OpSHA256(), op.OpSHA256()), notary.BitcoinBlockHeaderAttestation(500000))


ACCEPT = {
    "genesis": proof(lambda s: attest(s, notary.BitcoinBlockHeaderAttestation(0)), GENESIS_ROOT),
    "pending": proof(lambda s: attest(s, pending("https://a.pool.calendar.example"))),
    "two-calendars-shared-edge": proof(two_calendars),
    "upgraded": proof(upgraded),
    "every-operation": proof(every_operation),
    "every-attestation": proof(every_attestation),
    "sha1-file": proof(lambda s: attest(s, pending("https://a.example")), bytes(20), op.OpSHA1),
    "ripemd160-file": proof(lambda s: attest(s, pending("https://a.example")), bytes(20), op.OpRIPEMD160),
    "deepest": proof(lambda s: attest(chained(s, *[op.OpSHA256()] * 255), notary.BitcoinBlockHeaderAttestation(1))),
    "longest-message": proof(lambda s: attest(chained(s, op.OpAppend(bytes(4064)), op.OpSHA256()), notary.BitcoinBlockHeaderAttestation(1))),
}


def uri_file(uri):
    payload = serialize.BytesSerializationContext()
    payload.write_varbytes(uri)
    out = serialize.BytesSerializationContext()
    out.write_varbytes(payload.getbytes())
    return HEAD + b"\x00" + notary.PendingAttestation.TAG + out.getbytes()


REJECT = {
    "empty": (b"", "ots"),
    "wrong-magic": (b"\x01" + HEAD[1:] + BITCOIN, "ots"),
    "version-2": (HEAD[:31] + b"\x02" + HEAD[32:] + BITCOIN, "ots"),
    "file-hash-append": (HEAD[:32] + b"\xf0" + HEAD[33:] + BITCOIN, "ots"),
    "no-timestamp": (HEAD, "ots"),
    "cut": (HEAD + BITCOIN[:-1], "ots"),
    "trailing-byte": (HEAD + BITCOIN + b"\x00", "ots"),
    "unknown-operation": (HEAD + b"\x09" + BITCOIN, "ots"),
    "fork-of-fork": (HEAD + b"\xff\xff" + BITCOIN + BITCOIN, "ots"),
    "empty-argument": (HEAD + b"\xf0\x00" + BITCOIN, "ots"),
    "argument-too-long": (HEAD + b"\xf0\x81\x20" + bytes(4097) + BITCOIN, "limit"),
    "message-too-long": (HEAD + b"\xf0\xe1\x1f" + bytes(4065) + BITCOIN, "limit"),
    "hexlify-too-long": (HEAD + b"\xf3" * 8 + BITCOIN, "limit"),
    "too-deep": (HEAD + b"\x08" * 256 + BITCOIN, "limit"),
    "attestation-trailing-byte": (HEAD + BITCOIN[:9] + b"\x04\xf7\xef\x15\x00", "ots"),
    "attestation-too-long": (HEAD + b"\x00" + b"\x01" * 8 + b"\x81\x40" + bytes(8193), "limit"),
    "address-too-long": (uri_file(b"a" * 1001), "limit"),
    "address-with-query": (uri_file(b"https://a.example/?b"), "ots"),
    "address-not-ascii": (uri_file("https://\u00e4.example".encode()), "ots"),
    "padded-number": (HEAD + b"\xf0\x81\x00\x01" + BITCOIN, "ots"),
    "height-beyond-2-to-53": (HEAD + BITCOIN[:9] + b"\x09" + b"\xff" * 8 + b"\x01", "limit"),
}


def value_of(attestation):
    if isinstance(attestation, notary.PendingAttestation):
        return ["pending", attestation.uri]
    if isinstance(attestation, notary.UnknownAttestation):
        return [attestation.TAG.hex(), attestation.payload.hex()]
    return [NAMES[type(attestation)], attestation.height]


def refused_by_reference(data):
    try:
        timestamp.DetachedTimestampFile.deserialize(serialize.BytesDeserializationContext(data))
        return False
    except serialize.DeserializationError:
        return True


index = {"accept": {}, "reject": {}}
for folder in index:
    (here / folder).mkdir(exist_ok=True)
for name, detached in ACCEPT.items():
    out = serialize.BytesSerializationContext()
    detached.serialize(out)
    (here / "accept" / f"{name}.ots").write_bytes(out.getbytes())
    found = [[message.hex(), *value_of(a)] for message, a in detached.timestamp.all_attestations()]
    index["accept"][name] = sorted(found, key=lambda item: (item[0], item[1], str(item[2])))
for name, (data, code) in REJECT.items():
    (here / "reject" / f"{name}.ots").write_bytes(data)
    index["reject"][name] = {"code": code, "referenceRefuses": refused_by_reference(data)}
(here / "index.json").write_text(json.dumps(index, indent=1) + "\n")
