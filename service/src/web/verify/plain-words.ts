import { timeText } from "../ui/format.ts";

/** What every closing passport says that it covers and does not, word for word as its format has it, in plain words. */
const plain: Readonly<Record<string, string>> = {
  "SHA-256 hashes of the artifacts held for the listed orders at snapshot time":
    "The fingerprints (SHA-256) of the documents held for the listed orders when this version was made.",
  "the chain of this room's passport versions through prevManifestSha256":
    "The chain of versions: each has the fingerprint of the one before.",
  "payment or refund state": "Payments and refunds.",
  "delivery confirmation (there is no artifact hash of a delivered shipment)": "Whether a shipment was delivered.",
  "orders not attached to the room at snapshot time": "Orders that were not in the room when this version was made.",
  "statusAtSnapshot values (platform attestations, not evidence)":
    "The statuses shown: this service states them, and nobody can compute them again.",
  "anything after generatedAtUtc": "Anything that happened after this version was made.",
};

const instant = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;

/** What the formats' libraries say, for people: instants as pages write them, and no names of members. */
export const plainWords = (text: string): string =>
  plain[text] ?? text.replace(instant, (at) => timeText(new Date(at)));
