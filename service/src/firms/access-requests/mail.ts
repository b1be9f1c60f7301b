import { defineMail, type Letter, type MailDeps } from "../../kernel/platform/mail/mail-jobs.ts";
import { type AccessMail, accessMailQueue, keyCipher, type Refusal } from "./decide.ts";
import { markMailed, selectToMail } from "./store.ts";

/**
 * The mail with a new key. It quotes nothing from the request, so that nobody can send their own words to a stranger's
 * address through this service.
 */
export const keyLetter = (requestId: string, to: string, key: string, baseUrl: string): Letter => ({
  id: `access-request:${requestId}`,
  to,
  subject: "Your trial key",
  greeting: "Hello,",
  lines: [
    "We received a request for partner access with this email address. Here is the firm's test key. It is shown only this once.",
    "You can try everything with it: orders, rooms, passports and webhooks. Nothing is charged, mailed or notarized for real. Your own system uses it as its bearer key. You don’t need it in the browser: sign in with this address, and you are an owner of the firm.",
  ],
  code: key,
  link: { label: "Sign in", url: `${baseUrl}/sign-in` },
  caution: "Keep the key like a password. If you did not request it, ignore this email: nobody else has the key.",
});

const reasons: Readonly<Record<Refusal, readonly string[]>> = {
  repeated: [
    "We received a request for partner access with this email address. This address was given access to a firm before, so no key was made.",
    "Sign in with it to open the firm. If that opens no firm, you need a key, or the firm's name is not yours, answer this email: the operator of this service can help.",
  ],
  domain: [
    "We received a request for partner access with this email address. Somebody with an address of the same domain has a trial already, so no key was made yet.",
    "Ask your colleagues: their key serves the whole firm. Otherwise there is nothing to do: a person will look at your request.",
  ],
};

/** The mail that tells an address why it gets no key. Like `keyLetter`, it quotes nothing from the request. */
const refusalLetter = (requestId: string, to: string, refusal: Refusal, at: Date, baseUrl: string): Letter => ({
  id: `access-request:${requestId}:${refusal}:${at.toISOString()}`,
  to,
  subject: "Your request for partner access",
  greeting: "Hello,",
  lines: reasons[refusal],
  link: { label: "Sign in", url: `${baseUrl}/sign-in` },
  caution: "If you did not request it, ignore this email: nobody was given a key.",
});

/** Mails issued keys and refusals. Once the mail server has accepted a mail with a key, the stored key is deleted. */
export const accessMail = defineMail({
  queue: accessMailQueue,
  // The queue's delays double up to an hour, so these attempts last about two days.
  maxAttempts: 60,
  async load({ requestId, refusal }: AccessMail, { db, rowMac, secrets, baseUrl }: MailDeps) {
    const request = await selectToMail(db, rowMac, requestId);
    if (request?.notifiedAt && refusal)
      return {
        letter: refusalLetter(requestId, request.workEmail, refusal, request.notifiedAt, baseUrl),
        hasKey: false,
      };
    if (!request?.sealedKey) return null;
    const key = keyCipher(secrets).decrypt(request.sealedKey, requestId).toString();
    return { letter: keyLetter(requestId, request.workEmail, key, baseUrl), hasKey: true };
  },
  write: ({ letter }) => letter,
  onSent: async ({ hasKey }, { requestId }, { db, clock }) => hasKey && markMailed(db, requestId, clock()),
});
