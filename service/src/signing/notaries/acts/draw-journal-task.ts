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
import { type EntrySubject, journalNotice, refusalReasons } from "./entry.ts";

type Entry = EntrySubject & {
  position: number;
  at: string;
  environment: string;
  orderCode: string;
  previousSha256: string | null;
  notary: { name: string; state: string; county: string; commissionNumber: string; commissionExpires: string };
};

type Copy = { journal: string; name: string; exportedAt: string; entries: Entry[] };

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
  flow.text(journalNotice, { ...body, color: muted });
  flow.skip(12);
  sealBlock(sheets, flow, typeset, { at: copy.exportedAt, url: null });
  flow.row("Copy made", copy.exportedAt, body);
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
    `${notary.name}, ${notary.county}, ${notary.state}; commission ${notary.commissionNumber}, which expires on ${notary.commissionExpires}`,
  );
  if (entry.kind === "correction") row("Corrects", `entry ${entry.corrects}: ${entry.words}`);
  if (entry.kind === "refusal") row("Reason", `${refusalReasons[entry.reason]}: ${entry.words}`);
  if (entry.kind !== "correction" && entry.act) actRows(row, entry.act);
  if (entry.kind !== "correction" && entry.recording) {
    row("Whole recording", recordingWords(entry.recording));
  }
  if (entry.kind === "act") {
    row("Document, SHA-256", entry.document.notarizedSha256);
    if (entry.document.isPaper) row("", "A scan of paper. It does not contain the earlier digital signatures.");
  }
  row("Previous entry, SHA-256", entry.previousSha256);
  flow.skip(9);
}

const recordingWords = ({ sha256, keptAt, keptUntil, head }: ActRecording): string =>
  `${keptAt}, ${keptUntil === null ? "kept permanently" : `kept until ${keptUntil}`}; ${head ? `line ${head.seq} of the hash chain, ` : ""}SHA-256 ${sha256}`;

type Row = (label: string, value: string | null | undefined) => void;

function actRows(row: Row, act: NonNullable<Extract<Entry, { kind: "act" }>["act"]>): void {
  row("Act", `${act.act}, ${act.mode}; ${act.document}`);
  row("Venue", `${act.venue.county}, ${act.venue.state}`);
  row("Start, end", `${act.startedAt}, ${act.endedAt}`);
  for (const { name, address, basis, credential, witness, place, knows } of act.principals) {
    const sworn = witness?.oath ? `, under ${witness.oath}: ${witness.knows ?? ""}` : "";
    const of = witness ? `; ${witness.name}, ${witness.address}${sworn}` : "";
    const shown = credential ?? witness?.credential;
    const by = shown
      ? `; ${shown.type} issued by ${shown.issuer}, valid ${shown.issuedOn} to ${shown.expiresOn}${shown.last4 ? `, number ends in ${shown.last4}` : ""}${shown.resultReference ? `, check result ${shown.resultReference}` : ""}`
      : "";
    row("Principal", `${name}, ${address}`);
    row("Location", place && placeText(place));
    row("Identified by", `${basis.replaceAll("_", " ")}${knows === undefined ? "" : `: ${knows}`}${of}${by}`);
  }
  row("Signed before, SHA-256", act.signedBefore?.sha256);
  row("Witnesses", act.witnesses.join("; "));
  row("Session", act.session && `${act.session.tool}, ${act.session.id}`);
  row("Recording", act.recording && recordingWords(act.recording));
  row("Fee", dollars(act.feeCents));
  row("Notes", act.notes);
}

const steps = (sha256: string) =>
  [
    ["pdfsig journal.pdf", "It reports a valid seal."],
    ["pdfdetach -save 1 -o journal.json journal.pdf", "It extracts the entries, byte for byte."],
    ["sha256sum journal.json", `It prints ${sha256.slice(0, 12)}…, the hash of journal.json above.`],
    [
      "jq -Sca .entries[0] journal.json|tr -d '\\n'|sha256sum",
      "It prints the hash of the first entry. The next entry, if there is one, contains this hash, and so on.",
    ],
  ] as const;
