import { type Claim, claim } from "../claim.ts";
import { isSha256Hex } from "../digest.ts";
import { manifestBytes } from "../manifest/build.ts";
import { manifestLimits } from "../manifest/schema.ts";
import { validateManifest } from "../manifest/validate.ts";
import { parseStrictObject } from "./json.ts";
import { expect, recordFormat } from "./proof-record.ts";

/** What a service's public answer states of one version of a room's Closing Passport. */
export type RoomRecord = {
  /** Its canonical bytes. */
  readonly manifest: Uint8Array;
  readonly version: number;
  readonly manifestSha256: string;
  readonly sealedSha256: string;
  /** The service's own word on the chain. */
  readonly chainOk: boolean;
};

const maxBytes = 1024 * 1024;

/**
 * Reads the answer of `GET /api/verify/room/{code}`, fetched or saved. Members that are not named here are not looked at.
 *
 * @throws EvidenceError `json`, `record` or `manifest` naming the member at fault, `limit`
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

/** The service's word on the chain: believed only when it is no. */
export function serviceChainClaim({ chainOk }: RoomRecord): Claim<"service_chain_ok"> {
  const name = "service_chain_ok";
  if (!chainOk) return claim(name, false, "", "The service itself says that the chain is broken.");
  const why = "The service says that the version before is as linked. Give the other versions to see it.";
  return { name, state: "unchecked", why };
}
