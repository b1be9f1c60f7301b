import type { RawEvent } from "../providers/providers.ts";
import { type DrawnReceipt, eventFile } from "./content.ts";

type Step = readonly [command: string, outcome: string];

/** How the first event's signature is checked, as its provider makes it. */
const signatureSteps: Readonly<Record<RawEvent["provider"], (file: string) => readonly Step[]>> = {
  telnyx: (file) => [
    [
      `(printf '%s|' "$TIMESTAMP"; cat ${file}) > signed`,
      "What Telnyx signed: its header telnyx-timestamp, a bar, the event.",
    ],
    [
      "openssl pkeyutl -verify -rawin -pubin -inkey key.pem -in signed -sigfile sig",
      "The signature of the header holds, by Telnyx’s public key (Ed25519): nobody else can make it.",
    ],
  ],
  lob: (file) => [
    [
      `(printf '%s.' "$TIMESTAMP"; cat ${file}) | openssl dgst -sha256 -hmac "$SECRET"`,
      "It prints the header lob-signature. The account’s secret is the operator’s: ask for it.",
    ],
  ],
  easypost: (file) => [
    [
      `openssl dgst -sha256 -hmac "$SECRET" ${file}`,
      "It prints the header x-hmac-signature. The account’s secret is the operator’s: ask for it.",
    ],
  ],
};

/** Commands that check a receipt without this service. */
export function checkSteps({ events }: DrawnReceipt): readonly Step[] {
  const [first] = events;
  return [
    ["pdfsig receipt.pdf", "The seal is intact: nothing of this was changed since."],
    ["pdfdetach -saveall receipt.pdf", "The events are attached as they came, with their headers."],
    ...(first ? [["sha256sum event-*[0-9].json", "It prints the hashes above."] as const] : []),
    ...(first ? signatureSteps[first.provider](eventFile(0)) : []),
  ];
}
