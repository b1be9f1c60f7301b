import { hash } from "node:crypto";
import {
  type Attached,
  body,
  certificateFile,
  code,
  createFlow,
  createSheets,
  type Flow,
  fine,
  instantText,
  letterhead,
  limitsSection,
  manualChecks,
  muted,
  pageFeet,
  sealBlock,
  section,
  testNotice,
  titleLook,
} from "@signsealship/certificate";
import { typesetFor } from "../../kernel/pdf/typeset.ts";
import type { RawEvent } from "../../providers/providers.ts";
import { type DrawnReceipt, eventFile, headersFile, receiptNames } from "./content.ts";

/** Draws a receipt with the provider's events attached byte for byte. Equal contents result in equal bytes. */
export async function run(_document: Buffer, receipt: DrawnReceipt): Promise<Uint8Array> {
  const { kind, title, sentence, rows, order, firmName, environment, createdAt, events } = receipt;
  const typeset = await typesetFor([title, sentence, firmName, ...rows.flat()]);
  const sheets = createSheets();
  const flow = createFlow(sheets, typeset);
  sheets.newPage();
  letterhead(sheets, flow, typeset, receiptNames[kind]);
  flow.text(title, titleLook);
  flow.skip(3);
  flow.text(sentence, { size: 10.5, color: muted });
  if (environment === "test") testNotice(sheets, flow);
  flow.skip(14);
  sealBlock(sheets, flow, typeset, { holder: firmName, at: instantText(createdAt.toISOString()), url: null });
  for (const [label, value] of rows) flow.row(label, value, body);
  flow.row("Sent for", firmName, body);
  flow.row("Order", order, body);
  flow.skip(10);
  eventList(flow, receipt);
  limits(flow);
  manualChecks(flow, checkSteps(receipt), { attached: "receipt.json" });
  pageFeet(sheets, typeset, `${receiptNames[kind]}. Order ${order}`);
  return certificateFile(sheets, { title, at: createdAt, attached: attachments(receipt, events) });
}

function eventList(flow: Flow, { events }: DrawnReceipt): void {
  section(flow, "The provider’s reports", 90);
  if (events.length === 0)
    flow.text("The provider sent no signed event. It reported this when this service asked.", fine);
  for (const [index, { providerName, type, body: bytes }] of events.entries()) {
    flow.keep(40);
    flow.text(`${eventFile(index)}: ${type}, signed by ${providerName}`, fine);
    flow.row("SHA-256", hash("sha256", bytes), code);
    flow.skip(4);
  }
  flow.skip(8);
}

/** Prints what the receipt does not prove. */
const limits = (flow: Flow): void =>
  limitsSection(flow, [
    "This receipt states what the provider reported to this service, and when. This service itself did not see the parcel, the letter or the fax arrive.",
    "The provider’s signed events, if there are any, are attached byte for byte, with the headers that contain their signatures. The seal covers this page and everything attached to it.",
    "Only the provider’s reports above can say who received the item and whether somebody read it. This service does not state either.",
  ]);

/** The attachments, sorted by name, because PDF readers use binary search on the names. */
function attachments(receipt: DrawnReceipt, events: DrawnReceipt["events"]): Attached[] {
  const { kind, title, sentence, rows, order, environment } = receipt;
  const facts = {
    format: "signsealship-receipt",
    version: 1,
    kind,
    order,
    environment,
    title,
    sentence,
    rows: rows.map(([label, value]) => ({ label, value })),
    events: events.map(({ provider, type, body: bytes }, index) => ({
      file: eventFile(index),
      provider,
      type,
      sha256: hash("sha256", bytes),
    })),
  };
  const json = (value: unknown) => Buffer.from(JSON.stringify(value));
  const files = events.flatMap(({ body: bytes, headers }, index) => [
    { name: headersFile(index), description: "Headers of the event, with its signature", bytes: json(headers) },
    { name: eventFile(index), description: "Event of the provider, as received", bytes },
  ]);
  const own = { name: "receipt.json", description: "The content of this receipt", bytes: json(facts) };
  return [...files, own];
}

type Step = readonly [command: string, outcome: string];

const askForSecret = (header: string): string =>
  `It prints the value of the header ${header}. Ask the operator for the account’s secret.`;

/**
 * The steps to verify the signature of a receipt's first event, by provider. Each command must fit on half a line of
 * the page.
 */
const signatureSteps: Readonly<Partial<Record<RawEvent["provider"], (file: string) => readonly Step[]>>> = {
  telnyx: (file) => [
    [
      `(printf '%s|' $TIMESTAMP; cat ${file}) > signed`,
      "$TIMESTAMP is the header telnyx-timestamp. A bar and the event follow it.",
    ],
    ["openssl pkeyutl -verify -rawin -pubin \\", "sig is the header telnyx-signature-ed25519, decoded."],
    [
      "  -inkey key.pem -in signed -sigfile sig",
      "key.pem is Telnyx’s public key. Success shows that Telnyx signed the event.",
    ],
  ],
  lob: (file) => [
    [
      `(printf '%s.' $TIMESTAMP; cat ${file}) > signed`,
      "$TIMESTAMP is the header lob-signature-timestamp. A dot and the event follow it.",
    ],
    ['openssl dgst -sha256 -hmac "$SECRET" signed', askForSecret("lob-signature")],
  ],
  easypost: (file) => [[`openssl dgst -sha256 -hmac "$SECRET" ${file}`, askForSecret("x-hmac-signature")]],
};

/** The commands with which a reader verifies a receipt without this service. */
function checkSteps({ events }: DrawnReceipt): readonly Step[] {
  const [first] = events;
  return [
    ["pdfsig receipt.pdf", "It reports a valid seal: nothing has changed since sealing."],
    ["pdfdetach -saveall receipt.pdf", "It extracts the events as received, with their headers."],
    ...(first ? [["sha256sum event-*[0-9].json", "It prints the hashes above."] as const] : []),
    ...((first && signatureSteps[first.provider]?.(eventFile(0))) ?? []),
  ];
}
