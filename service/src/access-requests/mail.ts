import type { Clock } from "../platform/clock.ts";
import type { Sql } from "../platform/database/database.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import type { Mail, Mailer } from "../platform/mail/mail.ts";
import { mailFrom } from "../platform/mail/template.ts";
import type { SecretBytes } from "../platform/secrets.ts";
import { type AccessMail, accessMailQueue, keyCipher, type Refusal } from "./issue.ts";
import { markMailed, selectToMail } from "./store.ts";

export type AccessMailDeps = { db: Sql; clock: Clock; secrets: SecretBytes; mailer: Mailer; baseUrl: string };

/**
 * The mail with a new key. It holds nothing that was written in the request: nobody can make us send their words to another
 * person's address.
 */
export function keyMail(requestId: string, to: string, key: string, baseUrl: string): Mail {
  return {
    id: `access-request:${requestId}`,
    to,
    ...mailFrom({
      subject: "Your trial key",
      greeting: "Hello,",
      lines: [
        "We received a request for partner access with this email address. Here is the firm's test key. It is shown only this once.",
        "With it everything can be tried: orders, rooms, passports and webhooks. Nothing is charged, mailed or notarized for real. Your own system uses it as its bearer key; in the browser, sign in with this address and paste it once.",
      ],
      code: key,
      link: { label: "Sign in", url: `${baseUrl}/sign-in` },
      caution: "Keep the key like a password. If you did not request it, ignore this email: nobody else has the key.",
    }),
  };
}

const reasons: Readonly<Record<Refusal, readonly string[]>> = {
  repeated: [
    "We received a request for partner access with this email address. It was sent a test key before, so no second key was made.",
    "If you no longer have that key, or the firm's name is not yours, answer this email: the operator of this service can replace the key and correct the name.",
  ],
  domain: [
    "We received a request for partner access with this email address. Somebody with an address of the same domain has a trial already, so no key was made yet.",
    "Ask your colleagues: their key serves the whole firm. Otherwise there is nothing to do: a person will look at your request.",
  ],
};

/** Tells an address why it gets no key. It holds nothing that was written in the request, either. */
const refusalMail = (requestId: string, to: string, refusal: Refusal, at: Date, baseUrl: string): Mail => ({
  id: `access-request:${requestId}:${refusal}:${at.toISOString()}`,
  to,
  ...mailFrom({
    subject: "Your request for partner access",
    greeting: "Hello,",
    lines: reasons[refusal],
    link: { label: "Sign in", url: `${baseUrl}/sign-in` },
    caution: "If you did not request it, ignore this email: nobody was given a key.",
  }),
});

// With the doubling delays of the queue: for about two days.
const maxAttempts = 60;

/** Sends issued keys, and forgets a key's text once its mail was taken. */
export function accessMailJobs(jobs: Jobs, { db, clock, secrets, mailer, baseUrl }: AccessMailDeps): void {
  const cipher = keyCipher(secrets);
  jobs.work<AccessMail>(
    accessMailQueue,
    async ({ requestId, refusal }) => {
      const request = await selectToMail(db, requestId);
      if (request?.toldAt && refusal)
        return mailer.send(refusalMail(requestId, request.workEmail, refusal, request.toldAt, baseUrl));
      if (!request?.sealedKey) return;
      const key = cipher.decrypt(request.sealedKey, requestId).toString();
      await mailer.send(keyMail(requestId, request.workEmail, key, baseUrl));
      await markMailed(db, requestId, clock());
    },
    { maxAttempts },
  );
}
