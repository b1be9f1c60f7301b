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
import { typesetFor } from "../pdf/typeset.ts";
import { checkSteps } from "./check-steps.ts";
import { type DrawnReceipt, eventFile, headersFile, receiptNames } from "./content.ts";

/** Draws a receipt, with the provider's events attached as they came; equal contents give equal bytes. */
export async function run(_document: Buffer, receipt: DrawnReceipt): Promise<Uint8Array> {
  const { kind, title, sentence, rows, order, firmName, environment, madeAt, events } = receipt;
  const typeset = await typesetFor([title, sentence, firmName, ...rows.flat()]);
  const sheets = createSheets();
  const flow = createFlow(sheets, typeset);
  sheets.newPage();
  letterhead(sheets, flow, typeset, receiptNames[kind]);
  flow.text(title, titleLook);
  flow.skip(3);
  flow.text(sentence, { size: 10.5, colour: muted });
  if (environment === "test") testNotice(sheets, flow);
  flow.skip(14);
  sealBlock(sheets, flow, typeset, { holder: firmName, at: instantText(madeAt.toISOString()), url: null });
  for (const [label, value] of rows) flow.row(label, value, body);
  flow.row("Sent for", firmName, body);
  flow.row("Order", order, body);
  flow.skip(10);
  eventList(flow, receipt);
  limits(flow);
  manualChecks(flow, checkSteps(receipt), { attached: "receipt.json" });
  pageFeet(sheets, typeset, `${receiptNames[kind]}. Order ${order}`);
  return certificateFile(sheets, { title, at: madeAt, attached: attachments(receipt, events) });
}

function eventList(flow: Flow, { events }: DrawnReceipt): void {
  section(flow, "What the provider said", 90);
  if (events.length === 0) flow.text("No signed event came: the provider was asked, and answered so.", fine);
  for (const [index, { providerName, type, body: bytes }] of events.entries()) {
    flow.keep(40);
    flow.text(`${eventFile(index)}: ${type}, signed by ${providerName}`, fine);
    flow.row("SHA-256", hash("sha256", bytes), code);
    flow.skip(4);
  }
  flow.skip(8);
}

/** What the receipt is, and what nobody is to take it for. */
const limits = (flow: Flow): void =>
  limitsSection(flow, [
    "This service says what the provider told it, and when: it has not seen the parcel, the letter or the pages arrive.",
    "The provider’s events are attached byte by byte, with the headers that hold their signatures. The seal holds all of this together.",
    "Who received it, and whether it was read, is not said but by the provider’s own words above.",
  ]);

/** In the order of their names: a reader may look them up by halves. */
function attachments(receipt: DrawnReceipt, events: DrawnReceipt["events"]): Attached[] {
  const { kind, title, sentence, rows, order, environment } = receipt;
  const said = {
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
    { name: eventFile(index), description: "Event of the provider, as it came", bytes },
  ]);
  const own = { name: "receipt.json", description: "What this receipt says", bytes: json(said) };
  return [...files, own];
}
