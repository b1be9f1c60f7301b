import { html } from "hono/html";
import type { Clock } from "../platform/clock.ts";
import type { Sql } from "../platform/database.ts";
import type { Jobs } from "../platform/jobs.ts";
import type { Mail, Mailer } from "../platform/mail.ts";
import type { SecretBytes } from "../platform/secrets.ts";
import { markMailed, selectToMail } from "./access-request-store.ts";
import { accessMailQueue, keyCipher } from "./access-requests.ts";

export type AccessMailDeps = { db: Sql; clock: Clock; secrets: SecretBytes; mailer: Mailer; baseUrl: string };

/**
 * The mail with a new key. It holds nothing that the asker wrote: whoever names somebody else's address must not be able to make us
 * send their words there.
 */
export function keyMail(requestId: string, to: string, key: string, baseUrl: string): Mail {
  const docs = `${baseUrl}/docs`;
  const subject = "Your trial key";
  const lines = [
    "Somebody asked for partner access with this address, and here is the firm's test key. It is shown this once:",
    "With it everything can be tried: orders, rooms, passports and webhooks. Nothing is charged, mailed or notarized for real.",
    "Keep the key like a password. If you did not ask for it, leave it aside: nobody else has it.",
  ] as const;
  return {
    id: `access-request:${requestId}`,
    to,
    subject,
    text: [
      "Hello,",
      "",
      lines[0],
      "",
      key,
      "",
      lines[1],
      `How to begin: ${docs}`,
      "",
      lines[2],
      "",
      "SignSealShip",
      "",
    ].join("\n"),
    html: String(
      html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${subject}</title></head>
<body style="font-family: sans-serif; line-height: 1.5; color: #1c2430; max-width: 36em">
<p>Hello,</p>
<p>${lines[0]}</p>
<p><code style="overflow-wrap: anywhere">${key}</code></p>
<p>${lines[1]} <a href="${docs}">How to begin</a></p>
<p style="color: #5a6472">${lines[2]}</p>
<p>SignSealShip</p>
</body></html>
`,
    ),
  };
}

// With the doubling delays of a queue: for about two days.
const maxAttempts = 60;

/** Sends issued keys, and forgets a key's text once its mail was taken. */
export function accessMailJobs(jobs: Jobs, { db, clock, secrets, mailer, baseUrl }: AccessMailDeps): void {
  const cipher = keyCipher(secrets);
  jobs.work<{ requestId: string }>(
    accessMailQueue,
    async ({ requestId }) => {
      const request = await selectToMail(db, requestId);
      if (!request?.sealedKey) return;
      const key = cipher.decrypt(request.sealedKey, requestId).toString();
      await mailer.send(keyMail(requestId, request.workEmail, key, baseUrl));
      await markMailed(db, requestId, clock());
    },
    { maxAttempts },
  );
}
