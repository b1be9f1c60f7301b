import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

/** A received mail with decoded parts. */
export type CaughtMail = { to: string; from: string; subject: string; text: string; html: string; raw: string };

/** A real SMTP server on loopback. It stores every mail, except those that a test makes it refuse or drop. */
export async function startMailCatcher() {
  const caught: CaughtMail[] = [];
  let refusals = 0;
  let silent: "hang" | "mute" | null = null;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (refusals > 0) {
          refusals -= 1;
          return callback(Object.assign(new Error("busy, come back later"), { responseCode: 451 }));
        }
        const isSilent = silent;
        silent = null;
        if (isSilent === "hang") return;
        const { envelope } = session;
        const from = envelope.mailFrom ? envelope.mailFrom.address : "";
        caught.push(
          read(Buffer.concat(chunks).toString("utf8"), from, envelope.rcptTo.map(({ address }) => address).join()),
        );
        if (isSilent === null) callback();
      });
    },
  });
  server.on("error", () => {});
  const listening = server.listen(0, "127.0.0.1");
  await once(listening, "listening");
  return {
    url: `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    caught,
    /** Refuses the next mails temporarily, like a busy server. */
    refuseNext(count: number): void {
      refusals = count;
    },
    /** Leaves the next mail without an answer. `hang`: the server drops it. `mute`: the server stores it. */
    leaveNext(how: "hang" | "mute"): void {
      silent = how;
    },
    /** False while `leaveNext` still waits for a mail. */
    hasLeft: () => silent === null,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

function read(raw: string, from: string, to: string): CaughtMail {
  const subject = /^Subject: (.*(?:\r\n[ \t].*)*)/m.exec(raw)?.[1]?.replace(/\r\n[ \t]+/g, " ") ?? "";
  return { from, to, subject, text: part(raw, "text/plain"), html: part(raw, "text/html"), raw };
}

/** The first part of the mail with this content type, decoded. */
function part(raw: string, type: string): string {
  const match = new RegExp(`Content-Type: ${type}[^]*?\\r\\n\\r\\n([^]*?)(?:\\r\\n--|$)`).exec(raw);
  const head = match?.[0].split("\r\n\r\n")[0] ?? "";
  const body = match?.[1] ?? "";
  if (/base64/i.test(head)) return Buffer.from(body, "base64").toString("utf8");
  if (!/quoted-printable/i.test(head)) return body;
  const bytes = body
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}
