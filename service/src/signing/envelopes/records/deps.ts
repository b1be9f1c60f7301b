import type { EnvelopeEvidence } from "@signsealship/evidence/envelope";
import type { SealDocument, Sealed } from "../../../evidence/seals/seals.ts";
import type { Blobs } from "../../../kernel/platform/blobs/blobs.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import type { Workers } from "../../../kernel/platform/workers/task.ts";
import type { UntilMorning } from "../../../orders/fulfilment/fulfilment.ts";
import type { Texts } from "../texts/texts.ts";
import type { Envelope } from "./envelope.ts";
import type { SigningLinks } from "./link-tokens.ts";

export type EnvelopeDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  blobs: Blobs;
  rowMac: RowMac;
  workers: Workers;
  seal: EnvelopeSeal;
  reach: Reach;
};

/** The ways to reach a signer: mailed links, and text messages. */
export type Reach = {
  links: SigningLinks;
  /** How long automatic reminders, and mails about uploaded notarized documents, are delayed at night. */
  untilMorning: UntilMorning;
  /** Null when the service sends no text messages, so that no new order can require them. */
  texts: Texts | null;
};

/** Seals the documents of an envelope that everybody has signed. */
export type EnvelopeSeal = {
  signed: SealDocument;
  /**
   * Draws and seals the custody certificate, after the verifier has accepted its evidence.
   * @param document the sealed document that the evidence is about
   * @throws Error when the evidence is not valid, because a seal would certify it
   * @throws ServiceError `unavailable` when the certificate can't be sealed now
   */
  custody: (envelope: Envelope, evidence: EnvelopeEvidence, document: Buffer) => Promise<Sealed>;
};
