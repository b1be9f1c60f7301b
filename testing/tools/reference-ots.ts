import { execFileSync } from "node:child_process";
import { python } from "./python.ts";

const reader = `
import sys, json
from opentimestamps.core.serialize import BytesDeserializationContext
from opentimestamps.core.timestamp import DetachedTimestampFile
proof = DetachedTimestampFile.deserialize(BytesDeserializationContext(sys.stdin.buffer.read()))
found = [[type(a).__name__, m.hex()] for m, a in proof.timestamp.all_attestations()]
print(json.dumps({"digest": proof.file_digest.hex(), "found": found}))
`;

/**
 * The digest that an `.ots` proves, and its attestations, each with the message that it attests. Digest and messages
 * are in hex.
 */
export type ReadOts = { digest: string; found: [kind: string, message: string][] };

/** Reads an `.ots` with the reference library of OpenTimestamps. Tests that use it need the tool `opentimestamps`. */
export const readByReference = (proof: Uint8Array): ReadOts =>
  JSON.parse(execFileSync(python, ["-c", reader], { input: proof }).toString());
