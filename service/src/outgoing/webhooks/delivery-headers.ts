import type { Place } from "../../kernel/events/events.ts";
import {
  chainHeader,
  chainValue,
  checkpointHeader,
  eventHeader,
  secretHash,
  secretKeys,
  signatureHeader,
  signatureValue,
} from "./signing.ts";
import { type SigningKeys, standardSigned } from "./standard-signature.ts";

const userAgent = "SignSealShip-Webhooks/1";

export type Delivered = {
  eventId: string;
  topic: string;
  place: Place | null;
  keys: SigningKeys;
  /**
   * The newest checkpoint that this node accepted, as a signed note. Null until there is one, and while its log is
   * halted.
   */
  checkpoint: string | null;
};

/**
 * The headers of a delivery: those of the contract (agent, signature, topic) and of Standard Webhooks. Also the event's
 * position in its firm's hash chain and the log's newest checkpoint, unless they are null.
 * @param t in Unix seconds
 */
export const deliveryHeaders = (
  { eventId, topic, place, keys, checkpoint }: Delivered,
  t: number,
  body: Buffer,
): Record<string, string> => ({
  "content-type": "application/json",
  "user-agent": userAgent,
  [signatureHeader]: signatureValue(keys.secrets, t, body),
  [eventHeader]: topic,
  ...(place && { [chainHeader]: chainValue(place) }),
  ...(checkpoint !== null && { [checkpointHeader]: Buffer.from(checkpoint).toString("base64") }),
  ...standardSigned(eventId, t, body, keys),
});

/** The signing keys of a receiver with one secret, `svc_whsec_...`, and no Ed25519 key. */
export const keysOfSecret = (secret: string): SigningKeys => ({
  secrets: [secretKeys(secretHash(secret))],
  privateKey: null,
});
