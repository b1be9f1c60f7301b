/**
 * A mail to send by SMTP, or to store in the outbox folder when no server is set. Send it from a job (jobs.ts), never
 * from a request. If the mail server is unreachable, no request then waits, and the job tries again.
 */
import { hash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Transporter } from "nodemailer";
import type { Environment } from "../../identity/identity.ts";
import type { Clock } from "../clock.ts";
import { writeFileDurably } from "../durable-file.ts";

export type Mail = {
  to: string;
  subject: string;
  text: string;
  html: string;
  /**
   * The id of the mail. It is the same for each attempt, so that mail servers and programs can recognize duplicates.
   */
  id: string;
  /** The firm that the mail is sent for; its name precedes the service's own. */
  onBehalfOf?: string;
  /** The email address for replies; null or absent to use the service's own address. */
  replyTo?: string | null;
  /** An invitation to an appointment, or its cancellation, as a file that calendar programs recognize. */
  calendar?: { method: "REQUEST" | "CANCEL"; ics: string };
  /**
   * The newest checkpoint (a signed note) of the transparency log, for a header of the mail. With it, the recipient can
   * prove which state of the log the service showed.
   */
  checkpoint?: string | null;
  /** The URL for unsubscribing with one request (RFC 8058); absent for mails without that option. */
  unsubscribeUrl?: string;
};

export type Mailer = {
  /**
   * Sends the mail; without a mail server, stores it in the outbox.
   * @throws Error when the mail server can't be reached or doesn't accept it, or when the file can't be written
   */
  send: (mail: Mail) => Promise<void>;
  /** Stores the mail as a file and doesn't send it, for mails that must not leave this machine. */
  keep: (mail: Mail) => Promise<void>;
  /**
   * True if the mail server responded at the last attempt to send a mail; null before the first attempt, or without a
   * server.
   */
  isUp: () => boolean | null;
  /**
   * The newest checkpoint (a signed note) of a transparency log; null before the first one. Absent where no log runs.
   */
  newestCheckpoint?: ((log: Environment) => string | null) | undefined;
  close: () => void;
};

export type MailSettings = {
  /** `smtp://` or `smtps://`; null for the outbox folder. */
  smtpUrl: string | null;
  /** The sender of mails: `Name <address>`. */
  mailFrom: string;
  dataDir: string;
  /** The base URL of the service. Its host is the domain of message ids. */
  baseUrl: string;
  clock: Clock;
  /** Called for each mail that is written to the outbox because there is no server. */
  onStored?: (mail: Mail) => void;
  newestCheckpoint?: Mailer["newestCheckpoint"];
};

/**
 * Sends a mail about a live object. Mails about test orders and rooms are stored instead, because they may be addressed
 * to strangers.
 */
export const mailFor = (environment: Environment, mailer: Mailer, mail: Mail): Promise<void> =>
  environment === "live" ? mailer.send(mail) : mailer.keep({ ...mail, subject: `TEST: ${mail.subject}` });

const timeoutMs = 15_000;

/** The outbox of an installation on a developer's own machine: its folder, and the secret in the URL of its page. */
export type Outbox = { folder: string; token: string };

/** The folder of stored mails. Their files are named `YYYY-MM-DD-HASH.eml`. */
export const outboxFolder = (dataDir: string): string => join(dataDir, "outbox");

/** Opens the mailer. The first mail opens the connection to the mail server. */
export function openMailer({
  smtpUrl,
  mailFrom,
  dataDir,
  baseUrl,
  clock,
  onStored,
  newestCheckpoint,
}: MailSettings): Mailer {
  const outbox = outboxFolder(dataDir);
  const host = new URL(baseUrl).hostname;
  let smtp: Promise<Transporter> | undefined;
  let isUp: boolean | null = null;

  const message = ({ id, to, subject, text, html, onBehalfOf, replyTo = null, calendar, ...mail }: Mail) => ({
    to,
    subject,
    html,
    text: textPart(text),
    ...(calendar && { icalEvent: { method: calendar.method, filename: "appointment.ics", content: calendar.ics } }),
    ...(replyTo !== null && { replyTo: { name: "", address: replyTo } }),
    from: onBehalfOf === undefined ? mailFrom : senderFor(onBehalfOf, mailFrom),
    envelope: { from: mailFrom, to, use8BitMime: true },
    date: clock(),
    messageId: `<${idHash(id)}@${host}>`,
    headers: {
      "Auto-Submitted": "auto-generated",
      ...(mail.checkpoint && { [checkpointHeader]: foldable(mail.checkpoint) }),
      ...(mail.unsubscribeUrl !== undefined && {
        "List-Unsubscribe": `<${mail.unsubscribeUrl}>`,
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      }),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  });

  async function keep(mail: Mail): Promise<void> {
    const { createTransport } = await import("nodemailer");
    const composed = await createTransport({ streamTransport: true, buffer: true }).sendMail(message(mail));
    mkdirSync(outbox, { recursive: true, mode: 0o700 });
    // The file's name begins with the day, so the files sort by date. A mail that is stored again on that day replaces
    // its earlier file.
    const name = `${clock().toISOString().slice(0, 10)}-${idHash(mail.id).slice(0, 16)}.eml`;
    await writeFileDurably(join(outbox, name), composed.message as Buffer, { mode: 0o600 });
  }

  return {
    keep,
    async send(mail) {
      if (smtpUrl === null) {
        await keep(mail);
        return onStored?.(mail);
      }
      smtp ??= connect(smtpUrl);
      try {
        await (await smtp).sendMail(message(mail));
        isUp = true;
      } catch (error) {
        // A response with a status code means that the server is up, even if it refuses the mail.
        isUp = typeof (error as { responseCode?: number }).responseCode === "number";
        throw error;
      }
    },
    isUp: () => isUp,
    newestCheckpoint,
    close() {
      smtp?.then((transport) => transport.close());
    },
  };
}

// The most bytes in a line of a mail (RFC 5322, section 2.1.1).
const maxLineLength = 998;

/**
 * The text part, unencoded, so that a link can be copied from the stored file. The quoted-printable encoding would
 * split the link. If a line is too long for SMTP, returns the plain text, which the library then encodes.
 */
function textPart(text: string): string | { raw: string } {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.some((line) => Buffer.byteLength(line) > maxLineLength)) return text;
  return {
    raw: `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${lines.join("\r\n")}`,
  };
}

/**
 * The sender of a mail on behalf of a firm, such as `Acme Title via SignSealShip`. The address is always the service's
 * own, because SPF and DMARC require the service's domain.
 */
function senderFor(firm: string, mailFrom: string): { name: string; address: string } {
  const [, own = "", address = mailFrom] = /^\s*(.*?)\s*<([^>]*)>\s*$/.exec(mailFrom) ?? [];
  const name = own.replaceAll('"', "");
  return {
    name: name === "" ? firm.slice(0, maxNameLength) : `${firm.slice(0, maxNameLength)} via ${name}`,
    address,
  };
}

const maxNameLength = 80;

const checkpointHeader = "Service-Log-Checkpoint";

/** Base64 with spaces, so that a long header can be folded at them. */
const foldable = (text: string): string =>
  (
    Buffer.from(text)
      .toString("base64")
      .match(/.{1,60}/g) ?? []
  ).join(" ");

const idHash = (id: string): string => hash("sha256", id).slice(0, 32);

async function connect(url: string): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  const limits = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  return createTransport({ url, pool: true, maxConnections: 2, ...limits });
}
