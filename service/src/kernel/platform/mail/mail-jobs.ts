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

/** A mail in its parts, with its reader. */
export type Letter = MailTemplate &
  Pick<Mail, "id" | "to" | "calendar"> & {
    /** The environment of the order or room that it is about: a mail of a test order is only kept. */
    environment?: Environment;
  };

type Definition<Payload, Loaded, Deps> = {
  queue: string;
  /** The payload has words or addresses, so it gets a MAC: database access alone must not be enough to have them mailed. */
  isVouched?: true;
  /** Default that of jobs. */
  maxAttempts?: number;
  /** Reads the records at the time of sending. @returns nothing when the mail no longer holds: then it is not sent */
  load: (payload: Payload, deps: Deps) => Promise<Loaded | null | undefined>;
  write: (loaded: Loaded, payload: Payload, deps: Deps) => Letter;
  /** After the server took the mail. */
  onSent?: (loaded: Loaded, payload: Payload, deps: Deps) => Promise<unknown>;
};

/** A mail that jobs of one queue send. */
export type MailJob<Deps = MailDeps> = {
  work: (jobs: Jobs, deps: Deps) => void;
  /** Gives the jobs of an earlier release their MAC, where the queue asks for one. @returns their number */
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
    await mailFor(letter.environment ?? "live", deps.mailer, mailOf(letter));
    await onSent?.(loaded, payload, deps);
  };
  return {
    work: (jobs, deps) => jobs.work<Payload>(queue, handler(deps), options),
    vouch: async (tx) => (isVouched ? vouchForQueued(tx, queue) : 0),
    enqueue: (tx, payload) => (isVouched ? enqueueVouched(tx, queue, payload) : enqueue(tx, queue, payload)),
  };
}

/** The mail as it is sent. */
export const mailOf = ({ id, to, environment: _, calendar, ...template }: Letter): Mail => ({
  ...{ id, to },
  ...mailFrom(template),
  ...(calendar && { calendar }),
});
