import type { Environment } from "../../identity/identity.ts";
import type { Clock } from "../clock.ts";
import type { Database, Tx } from "../database/database.ts";
import { enqueue, enqueueVouched, type Jobs, vouchedPayload, vouchForQueued } from "../jobs/jobs.ts";
import type { RowMac } from "../row-mac.ts";
import type { SecretBytes } from "../secrets.ts";
import { type Mail, type Mailer, mailFor } from "./mail.ts";
import { type MailTemplate, mailFrom } from "./template.ts";

export type MailDeps = {
  db: Database;
  clock: Clock;
  secrets: SecretBytes;
  rowMac: RowMac;
  mailer: Mailer;
  baseUrl: string;
};

/** The parts of a mail, and its recipient. */
export type Letter = MailTemplate &
  Pick<Mail, "id" | "to" | "calendar" | "unsubscribeUrl"> & {
    /**
     * The environment of the order or room that the mail is about; default `live`. Mails about test objects are stored
     * and not sent.
     */
    environment?: Environment;
    /**
     * True for a mail with links to finished documents. Such a mail also contains the newest checkpoint of the
     * transparency log, if there is one.
     */
    isOfFinished?: boolean;
  };

type Definition<Payload, Loaded, Deps> = {
  queue: string;
  /**
   * True if the payload contains texts or email addresses. Then the payload gets a MAC, so that database access alone
   * is not enough to send mails with chosen text. `appointmentMail` makes its own MAC instead.
   */
  isVouched?: true;
  /** The most attempts to send a mail; by default as many as for any job. */
  maxAttempts?: number;
  /**
   * Called when the mail is about to be sent, to read the facts that the mail states.
   * @returns null or undefined when the mail no longer applies; then it is not sent
   */
  load: (payload: Payload, deps: Deps) => Promise<Loaded | null | undefined>;
  write: (loaded: Loaded, payload: Payload, deps: Deps) => Letter;
  /** Called after the mail server has accepted the mail, or after the mail was stored instead. */
  onSent?: (loaded: Loaded, payload: Payload, deps: Deps) => Promise<unknown>;
};

/** A kind of mail, sent by the jobs of one queue. */
export type MailJob<Deps = MailDeps> = {
  work: (jobs: Jobs, deps: Deps) => void;
  /**
   * Adds a MAC to each job that an earlier release queued without one. Does nothing if the queue needs no MACs.
   * @returns the number of these jobs
   */
  vouch: (tx: Tx) => Promise<number>;
};

export function defineMail<Payload extends object, Loaded, Deps extends { mailer: Mailer; rowMac: RowMac } = MailDeps>({
  queue,
  load,
  write,
  onSent,
  isVouched,
  ...options
}: Definition<Payload, Loaded, Deps>): MailJob<Deps> & { enqueue: (tx: Tx, payload: Payload) => Promise<void> } {
  const handler = (deps: Deps) => async (queued: Payload) => {
    const payload = isVouched ? vouchedPayload(deps.rowMac, queue, queued) : queued;
    const loaded = await load(payload, deps);
    if (!loaded) return;
    const letter = write(loaded, payload, deps);
    const { environment = "live", isOfFinished = false } = letter;
    const checkpoint = isOfFinished ? (deps.mailer.newestCheckpoint?.(environment) ?? null) : null;
    await mailFor(environment, deps.mailer, mailOf({ ...letter, checkpoint }));
    await onSent?.(loaded, payload, deps);
  };
  return {
    work: (jobs, deps) => jobs.work<Payload>(queue, handler(deps), options),
    vouch: async (tx) => (isVouched ? vouchForQueued(tx, queue) : 0),
    enqueue: (tx, payload) => (isVouched ? enqueueVouched(tx, queue, payload) : enqueue(tx, queue, payload)),
  };
}

/**
 * Makes the mail to send from a letter: writes its text and HTML, and leaves out the members that only this file needs.
 */
export const mailOf = ({ id, to, environment: _, isOfFinished: __, calendar, ...template }: Letter): Mail => ({
  id,
  to,
  ...mailFrom(template),
  ...(calendar && { calendar }),
  ...(template.unsubscribeUrl !== undefined && { unsubscribeUrl: template.unsubscribeUrl }),
});
