import type { Tx } from "../../../kernel/platform/database/database.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { findAddress } from "./store.ts";

const changeTexts = {
  added:
    "A passkey was added to your sign-in. From now on signing in needs a passkey, and other browsers were signed out.",
  removed: "A passkey was removed from your sign-in, and other browsers were signed out.",
  "removed-by-operator":
    "The operator of this service removed all your passkeys and recovery codes, and signed you out.",
  "recovery-code": "One of your recovery codes was used in the place of a passkey.",
  "new-codes": "You have new recovery codes. The earlier ones no longer work.",
} as const;

type FactorChange = { userId: string; what: keyof typeof changeTexts; at: string };

export const mailFactorChange = (tx: Tx, userId: string, what: FactorChange["what"], at: Date) =>
  factorMail.enqueue(tx, { userId, what, at: at.toISOString() });

/** Mails people about changes to their second factor, so that they notice an attack. */
export const factorMail = defineMail({
  queue: "factor-mail",
  load: ({ userId }: FactorChange, { db }: MailDeps) => findAddress(db, userId),
  write: ({ email, isOperator }, { userId, what, at }, { baseUrl }) => ({
    id: `factor:${userId}:${what}:${at}`,
    to: email,
    subject: "Your sign-in changed",
    greeting: "Hello,",
    lines: [changeTexts[what]],
    link: { label: "See your sign-in", url: `${baseUrl}/${isOperator ? "operator" : "dashboard"}/security` },
    caution: "If it was not you, end your sessions, and ask the operator of this service for help.",
  }),
});
