import { type Claim, claim } from "../claim.ts";
import { isSha256Hex } from "../digest.ts";
import { manifestBytes } from "../manifest/build.ts";
import { manifestLimits } from "../manifest/schema.ts";
import { validateManifest } from "../manifest/validate.ts";
import { parseStrictObject } from "./json.ts";
import { expect, recordFormat } from "./proof-record.ts";

/** A service's public statement about one version of a room's Closing Passport. */
export type RoomRecord = {
  /** Its canonical bytes. */
  readonly manifest: Uint8Array;
  readonly version: number;
  readonly manifestSha256: string;
  readonly sealedSha256: string;
  /** The service's own verdict on the chain. */
  readonly chainOk: boolean;
};

const maxBytes = 1024 * 1024;

/**
 * Reads the answer of `GET /api/verify/room/{code}`, fetched or saved. Unknown members are ignored.
 *
 * @throws EvidenceError `json`, `record` or `manifest` naming the faulty member, `limit`
 */
export function parseRoomRecord(bytes: Uint8Array): RoomRecord {
  const { format, manifest, manifestSha256, sealedSha256, version, chainOk } = parseStrictObject(bytes, maxBytes);
  expect(format === undefined || format === recordFormat, "format");
  expect(isSha256Hex(manifestSha256), "manifestSha256");
  expect(isSha256Hex(sealedSha256), "sealedSha256");
  expect(isVersion(version), "version");
  expect(typeof chainOk === "boolean", "chainOk");
  return { manifest: manifestBytes(validateManifest(manifest)), version, manifestSha256, sealedSha256, chainOk };
}

const isVersion = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= manifestLimits.versions;

/** The service's verdict on the chain. Only a negative one counts. */
export function serviceChainClaim({ chainOk }: RoomRecord): Claim<"service_chain_ok"> {
  const name = "service_chain_ok";
  if (!chainOk) return claim(name, false, "", "The service itself says that the chain is broken.");
  const why = "The service says that the version before is as linked. Give the other versions to see it.";
  return { name, state: "unchecked", why };
}
