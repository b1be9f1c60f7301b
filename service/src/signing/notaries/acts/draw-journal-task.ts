import {
  body,
  certificateFile,
  code,
  createFlow,
  createSheets,
  createTypeset,
  type Faces,
  type Flow,
  fine,
  letterhead,
  manualChecks,
  muted,
  openFaces,
  pageFeet,
  sealBlock,
  section,
  titleLook,
} from "@signsealship/certificate";
import { dollars } from "../../../orders/dollars.ts";
import { placeText } from "../places.ts";
import type { ActRecording } from "./act.ts";
import { type EntrySubject, refusalReasons } from "./entry.ts";

type Entry = EntrySubject & {
  position: number;
  at: string;
  environment: string;
  orderCode: string;
  previousSha256: string | null;
  notary: { name: string; state: string; county: string; commissionNumber: string; commissionExpires: string };
};

type Copy = { journal: string; name: string; notice: string; exportedAt: string; entries: Entry[] };

let opening: Promise<Faces> | undefined;

/** Draws a copy of a journal, with the JSON attached. */
export async function run(_: Buffer, { json, sha256 }: { json: string; sha256: string }): Promise<Uint8Array> {
  const copy = JSON.parse(json) as Copy;
  opening ??= openFaces();
  const faces = await opening;
  await faces.prepare(JSON.stringify(copy));
  const typeset = createTypeset(faces);
  const sheets = createSheets();
  const flow = createFlow(sheets, typeset);
  sheets.newPage();
  letterhead(sheets, flow, typeset, "Notary journal");
  flow.text(copy.name, titleLook);
  flow.skip(3);
  flow.text(copy.notice, { ...body, colour: muted });
  flow.skip(12);
  sealBlock(sheets, flow, typeset, { at: copy.exportedAt, url: null });
  flow.row("Copied", copy.exportedAt, body);
  flow.row("Entries", String(copy.entries.length), body);
  flow.row("Journal", copy.journal, code);
  flow.row("journal.json, SHA-256", sha256, code);
  flow.skip(10);
  for (const entry of copy.entries) entryBlock(flow, entry);
  manualChecks(flow, steps(sha256), { attached: "journal.json" });
  pageFeet(sheets, typeset, `Notary journal ${copy.journal}`);
  return certificateFile(sheets, {
    title: `Notary journal: ${copy.name}`,
    at: new Date(copy.exportedAt),
    attached: {
      name: "journal.json",
      description: "Canonical entries of the journal",
      bytes: Buffer.from(json),
    },
  });
}

const kindWords = { act: "Act", refusal: "Refusal", correction: "Correction" } as const;

function entryBlock(flow: Flow, entry: Entry): void {
  const row = (label: string, value: string | null | undefined) => value && flow.row(label, value, fine);
  section(flow, `${entry.position}. ${kindWords[entry.kind]}`, 120);
  const { notary } = entry;
  row("Entered", entry.at);
  row("Order", `${entry.orderCode}${entry.environment === "test" ? " (test)" : ""}`);
  row(
    "Notary",
    `${notary.name}, ${notary.county}, ${notary.state}; commission ${notary.commissionNumber} to ${notary.commissionExpires}`,
  );
  if (entry.kind === "correction") row("Corrects", `entry ${entry.corrects}: ${entry.words}`);
  if (entry.kind === "refusal") row("Why", `${refusalReasons[entry.reason]}: ${entry.words}`);
  if (entry.kind !== "correction" && entry.act) actRows(row, entry.act);
  if (entry.kind !== "correction" && entry.recording) {
    row("Whole recording", recordingWords(entry.recording));
  }
  if (entry.kind === "act") {
    row("Document, SHA-256", entry.document.notarizedSha256);
    if (entry.document.isPaper) row("", "A scan of paper: earlier signatures are not carried.");
  }
  row("Entry before, SHA-256", entry.previousSha256);
  flow.skip(9);
}

const recordingWords = ({ sha256, keptAt, keptUntil, head }: ActRecording): string =>
  `${keptAt}, ${keptUntil === null ? "for good" : `until ${keptUntil}`}; ${head ? `line ${head.seq} of the chain, ` : ""}SHA-256 ${sha256}`;

type Row = (label: string, value: string | null | undefined) => void;

function actRows(row: Row, act: NonNullable<Extract<Entry, { kind: "act" }>["act"]>): void {
  row("Act", `${act.act}, ${act.mode}; ${act.document}`);
  row("Venue", `${act.venue.county}, ${act.venue.state}`);
  row("From, to", `${act.startedAt}, ${act.endedAt}`);
  for (const { name, address, basis, credential, witness, place, knows } of act.principals) {
    const sworn = witness?.oath ? `, by ${witness.oath}: ${witness.knows ?? ""}` : "";
    const of = witness ? `; ${witness.name}, ${witness.address}${sworn}` : "";
    const shown = credential ?? witness?.credential;
    const by = shown
      ? `; ${shown.type} of ${shown.issuer}, ${shown.issuedOn} to ${shown.expiresOn}${shown.last4 ? `, ends in ${shown.last4}` : ""}${shown.resultReference ? `, result ${shown.resultReference}` : ""}`
      : "";
    row("Principal", `${name}, ${address}`);
    row("Was in", place && placeText(place));
    row("Identified by", `${basis.replaceAll("_", " ")}${knows === undefined ? "" : `: ${knows}`}${of}${by}`);
  }
  row("Signed again; before, SHA-256", act.signedBefore?.sha256);
  row("Witnesses", act.witnesses.join("; "));
  row("Session", act.session && `${act.session.tool}, ${act.session.id}`);
  row("Recording", act.recording && recordingWords(act.recording));
  row("Fee", dollars(act.feeCents));
  row("Notes", act.notes);
}

const steps = (sha256: string) =>
  [
    ["pdfsig journal.pdf", "The seal is intact."],
    ["pdfdetach -save 1 -o journal.json journal.pdf", "The entries are attached as they were hashed."],
    ["sha256sum journal.json", `It prints ${sha256.slice(0, 12)}…, its hash above.`],
    ["jq -Sca .entries[0] journal.json|tr -d '\\n'|sha256sum", "The hash that the entry after it names: so for each."],
  ] as const;
