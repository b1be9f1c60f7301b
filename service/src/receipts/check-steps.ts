import type { RawEvent } from "../providers/providers.ts";
import { type DrawnReceipt, eventFile } from "./content.ts";

type Step = readonly [command: string, outcome: string];

const askForSecret = (header: string): string =>
  `It prints the header ${header}. The account’s secret is the operator’s: ask for it.`;

/** How the first event's signature is checked, as its provider makes it. A command is at most half a line long. */
const signatureSteps: Readonly<Record<RawEvent["provider"], (file: string) => readonly Step[]>> = {
  telnyx: (file) => [
    [`(printf '%s|' $TIMESTAMP; cat ${file}) > signed`, "Its header telnyx-timestamp, a bar, and the event."],
    ["openssl pkeyutl -verify -rawin -pubin \\", "sig is its header telnyx-signature-ed25519, decoded:"],
    ["  -inkey key.pem -in signed -sigfile sig", "by Telnyx’s public key, nobody else made it."],
  ],
  lob: (file) => [
    [`(printf '%s.' $TIMESTAMP; cat ${file}) > signed`, "Its header lob-signature-timestamp, a dot, and the event."],
    ['openssl dgst -sha256 -hmac "$SECRET" signed', askForSecret("lob-signature")],
  ],
  easypost: (file) => [[`openssl dgst -sha256 -hmac "$SECRET" ${file}`, askForSecret("x-hmac-signature")]],
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
