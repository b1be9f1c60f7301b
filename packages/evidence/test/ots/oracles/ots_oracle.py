"""The reference reader and writer of OpenTimestamps behind JSON lines: one request in, one answer out.

{"read": hex, "message": hex?}        -> {"hex": re-serialized, "found": [[message, kind, value], ...]} or {"error": class}
{"merge": [hex, ...], "message": hex} -> the same, of the merged bare timestamps
{"random": seed}                      -> the same, of a detached proof grown at random

Needs the library opentimestamps: the tests install it from PyPI (testing/tools/tools.ts).
"""

import json
import random
import sys
import warnings

from opentimestamps.core import notary, op, serialize, timestamp
from opentimestamps.core.dubious.notary import EthereumBlockHeaderAttestation

warnings.simplefilter("ignore")

BLOCKS = {
    notary.BitcoinBlockHeaderAttestation: "bitcoin",
    notary.LitecoinBlockHeaderAttestation: "litecoin",
    EthereumBlockHeaderAttestation: "ethereum",
}


def value_of(attestation):
    if isinstance(attestation, notary.PendingAttestation):
        return ["pending", attestation.uri]
    if isinstance(attestation, notary.UnknownAttestation):
        return [attestation.TAG.hex(), attestation.payload.hex()]
    return [BLOCKS[type(attestation)], attestation.height]


def described(holder, stamp):
    out = serialize.BytesSerializationContext()
    holder.serialize(out)
    found = [[message.hex(), *value_of(attestation)] for message, attestation in stamp.all_attestations()]
    return {"hex": out.getbytes().hex(), "found": sorted(found, key=json.dumps)}


def bare(data, message):
    source = serialize.BytesDeserializationContext(bytes.fromhex(data))
    stamp = timestamp.Timestamp.deserialize(source, message)
    source.assert_eof()
    return stamp


def read(request):
    if "message" in request:
        stamp = bare(request["read"], bytes.fromhex(request["message"]))
        return described(stamp, stamp)
    source = serialize.BytesDeserializationContext(bytes.fromhex(request["read"]))
    proof = timestamp.DetachedTimestampFile.deserialize(source)
    return described(proof, proof.timestamp)


def merge(request):
    message = bytes.fromhex(request["message"])
    whole = timestamp.Timestamp(message)
    for part in request["merge"]:
        whole.merge(bare(part, message))
    return described(whole, whole)


def random_attestation(rng):
    kind = rng.randrange(5)
    if kind == 0:
        return notary.PendingAttestation("https://" + "".join(rng.choices("ab.-_/:9Z", k=rng.randrange(30))))
    if kind == 1:
        return notary.UnknownAttestation(rng.randbytes(8), rng.randbytes(rng.randrange(200)))
    return rng.choice(list(BLOCKS))(rng.choice([0, 1, 127, 128, 300000, 2**40]))


def random_op(rng):
    if rng.random() < 0.4:
        return rng.choice([op.OpAppend, op.OpPrepend])(rng.randbytes(rng.choice([1, 2, 32, 127, 128, 300])))
    return rng.choice([op.OpReverse, op.OpHexlify, op.OpSHA1, op.OpRIPEMD160, op.OpSHA256, op.OpKECCAK256])()


def grow(rng, stamp, depth):
    for _ in range(rng.randrange(0 if depth < 6 else 1, 3)):
        stamp.attestations.add(random_attestation(rng))
    if depth < 6:
        for _ in range(rng.randrange(3)):
            try:
                child = stamp.ops.add(random_op(rng))
            except op.MsgValueError:
                continue
            grow(rng, child, depth + 1)
    if not stamp.attestations and not stamp.ops:
        stamp.attestations.add(random_attestation(rng))


def grown(request):
    rng = random.Random(request["random"])
    hash_op = rng.choice([op.OpSHA1, op.OpRIPEMD160, op.OpSHA256, op.OpKECCAK256])()
    proof = timestamp.DetachedTimestampFile(hash_op, timestamp.Timestamp(rng.randbytes(hash_op.DIGEST_LENGTH)))
    grow(rng, proof.timestamp, 0)
    return described(proof, proof.timestamp)


def answer(request):
    try:
        if "read" in request:
            return read(request)
        return merge(request) if "merge" in request else grown(request)
    except serialize.DeserializationError as error:
        return {"error": type(error).__name__}
    except (ValueError, MemoryError, OverflowError) as error:
        return {"error": type(error).__name__}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))))
