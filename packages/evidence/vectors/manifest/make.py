#!/usr/bin/python3
"""Writes the closing-manifest vectors next to this file, with Python's json module and nothing of ours.

chain/v1.json to v5.json are one room's canonical manifests; canonical/*.json hold {"value", "text"} pairs;
reject/*.json are manifests that break one rule each. index.json gives the hashes of the chain and what each rejected
file breaks. Run it again after a change: ./make.py
"""

import copy
import hashlib
import json
import pathlib

here = pathlib.Path(__file__).parent
ROOM = "0123456789abcdef0123456789abcdef01234567"
NOTE = "platform attestation by signsealship at snapshot time; not cryptographic evidence"
COVERAGE = {
    "covers": [
        "SHA-256 hashes of the artifacts held for the listed orders at snapshot time",
        "the chain of this room's passport versions through prevManifestSha256",
    ],
    "doesNotCover": [
        "payment or refund state",
        "delivery confirmation (there is no artifact hash of a delivered shipment)",
        "orders not attached to the room at snapshot time",
        "statusAtSnapshot values (platform attestations, not evidence)",
        "anything after generatedAtUtc",
    ],
}


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def status(value):
    return {"basis": "platform_attestation", "note": NOTE, "value": value}


def manifest(version, previous, documents):
    return {
        "passport": {
            "roomCode": ROOM,
            "roomName": 'Maple \u2013 K\u00e4ufer & \u58f2\u4e3b \U0001f600 "12"\u007f',
            "reference": None if version == 1 else "file 7/12",
            "version": version,
            "prevManifestSha256": previous,
            "generatedAtUtc": f"2026-01-0{version}T10:00:00Z",
        },
        "documents": documents,
        "coverage": COVERAGE,
    }


def write(path, text):
    (here / path).parent.mkdir(exist_ok=True)
    (here / path).write_bytes(text.encode())


DEED = {"orderCode": "a" * 40, "label": "Deed", "statusAtSnapshot": status("EsignComplete")}
DEED |= {"originalSha256": "1" * 64, "sealedSha256": "2" * 64, "envelopeVerifyCode": "abcdefghijklmnopqrstuvwxyz"}
NOTE_ORDER = {"orderCode": "b" * 40, "label": None, "statusAtSnapshot": status("QuoteReady"), "originalSha256": "3" * 64}

index = {"roomCode": ROOM, "chain": [], "reject": {}}
previous = None
NOTARIZED = {**DEED, "notarizedSha256": "5" * 64}
# A document that a notary sealed, and that nobody signed before.
ONLY_NOTARIZED = {**NOTE_ORDER, "notarizedSha256": "6" * 64}
SNAPSHOTS = ([], [DEED], [DEED, NOTE_ORDER], [NOTARIZED, NOTE_ORDER], [NOTARIZED, ONLY_NOTARIZED])
for version, documents in enumerate(SNAPSHOTS, 1):
    text = canonical(manifest(version, previous, documents))
    write(f"chain/v{version}.json", text)
    previous = hashlib.sha256(text.encode()).hexdigest()
    index["chain"].append(previous)


def broken(change):
    value = copy.deepcopy(manifest(2, "4" * 64, [DEED, NOTE_ORDER]))
    change(value)
    return canonical(value)


REJECT = {
    "null-artifact": ("documents[1].sealedSha256", lambda m: m["documents"][1].update(sealedSha256=None)),
    "null-notarized": ("documents[0].notarizedSha256", lambda m: m["documents"][0].update(notarizedSha256=None)),
    "uppercase-notarized": ("documents[0].notarizedSha256", lambda m: m["documents"][0].update(notarizedSha256="A" * 64)),
    "unsorted": ("documents[1].orderCode", lambda m: m["documents"].reverse()),
    "same-order-twice": ("documents[1].orderCode", lambda m: m.update(documents=[DEED, DEED])),
    "uppercase-hash": ("documents[0].originalSha256", lambda m: m["documents"][0].update(originalSha256="A" * 64)),
    "first-with-previous": ("passport.prevManifestSha256", lambda m: m["passport"].update(version=1)),
    "second-without-previous": ("passport.prevManifestSha256", lambda m: m["passport"].update(prevManifestSha256=None)),
    "version-21": ("passport.version", lambda m: m["passport"].update(version=21)),
    "milliseconds": ("passport.generatedAtUtc", lambda m: m["passport"].update(generatedAtUtc="2026-01-01T10:00:00.000Z")),
    "no-such-day": ("passport.generatedAtUtc", lambda m: m["passport"].update(generatedAtUtc="2026-02-29T10:00:00Z")),
    "year-zero": ("passport.generatedAtUtc", lambda m: m["passport"].update(generatedAtUtc="0000-01-01T10:00:00Z")),
    "reference-left-out": ("passport.reference", lambda m: m["passport"].pop("reference")),
    "other-note": ("documents[0].statusAtSnapshot.note", lambda m: m["documents"][0]["statusAtSnapshot"].update(note="evidence")),
    "wider-coverage": ("coverage.covers", lambda m: m["coverage"]["covers"].append("payment")),
    "extra-document-member": ("documents[0] (unknown member)", lambda m: m["documents"][0].update(faxedSha256="7" * 64)),
    "extra-member": ("manifest (unknown member)", lambda m: m.update(signature="x")),
}
for name, (member, change) in REJECT.items():
    write(f"reject/{name}.json", broken(change))
    index["reject"][name] = member

# Texts that programs read in different ways are not accepted as JSON here.
WHOLE = broken(lambda m: None)
for name, text in {
    "member-twice": WHOLE.replace('"version":2', '"version":2,"version":2'),
    "byte-order-mark": "\ufeff" + WHOLE,
}.items():
    write(f"reject/{name}.json", text)
    index["reject"][name] = "json"

VALUES = {
    "controls": "".join(map(chr, range(0x20))) + "\u007f\u0080\u2028\u2029",
    "escapes": '"\\/<>&\'',
    "planes": "\u00e9\ud7ff\ue000\uffff\U00010000\U0010ffff",
    "order": {"b": 1, "a": 2, "B": 3, "10": 4, "9": 5, "": 6, "a b": 7, "aa": 8, "~": 9},
    "numbers": [0, -1, 9007199254740991, -9007199254740991],
    "empty": [{}, [], "", None, True, False],
}
for name, value in VALUES.items():
    write(f"canonical/{name}.json", json.dumps({"value": value, "text": canonical(value)}, indent=1) + "\n")
write("index.json", json.dumps(index, indent=1) + "\n")
