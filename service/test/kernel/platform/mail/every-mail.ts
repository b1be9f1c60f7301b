import { invitationTemplate } from "../../../../src/closing/rooms/participants/invite.ts";
import { keyLetter } from "../../../../src/firms/access-requests/mail.ts";
import { languages } from "../../../../src/kernel/platform/languages.ts";
import { mailOf } from "../../../../src/kernel/platform/mail/mail-jobs.ts";
import { type MailFirm, mailFrom } from "../../../../src/kernel/platform/mail/template.ts";
import { letterOf } from "../../../../src/orders/fulfilment/client-letters.ts";
import { mailWords as orderWords } from "../../../../src/orders/fulfilment/mail-words.ts";
import type { MailMoment } from "../../../../src/orders/order/order.ts";
import { mailCaution, mailWords as signerWords } from "../../../../src/signing/envelopes/mails/words.ts";
import { links, order } from "../../../orders/fulfilment/mail-samples.ts";

const baseUrl = "https://sign.example";
const at = "2026-01-05T10:00:00.000Z";

/**
 * Mails as HTML, by name. To clients: one for each `MailMoment`. To signers: each mail in each language. To others: an
 * invitation to a room, and a trial key.
 */
export function everyMail({ firm, title }: { firm: MailFirm; title: string }): Map<string, string> {
  const mails = new Map<string, string>();
  for (const moment of Object.keys(orderWords) as MailMoment[])
    mails.set(moment, mailOf(letterOf(moment, at, { ...order, firm, title }, links)).html);
  const facts = {
    title,
    partnerName: firm.name,
    until: "December 1, 2026",
    outcome: "Expired",
    askedForPaper: null,
    signers: [],
    reference: null,
    message: null,
    paid: "$182.40",
    others: null,
  } as const;
  for (const language of languages)
    for (const [moment, words] of Object.entries(signerWords[language])) {
      const { label, caution = mailCaution[language](null), ...said } = words(facts);
      const code = moment === "code" ? { code: "123456" } : {};
      const link = label === "" ? null : { label, url: `${baseUrl}/sign/${"c".repeat(40)}` };
      mails.set(
        `signer-${moment}-${language}`,
        mailFrom({ ...said, ...code, caution, greeting: "Hello,", link, language, firm }).html,
      );
    }
  const room = { name: "Dana Whitfield", email: "dana@example.com", roomCode: "d".repeat(40), roomName: title };
  const invited = { ...room, partnerId: "p", environment: "live" } as const;
  mails.set("room-invitation", mailFrom(invitationTemplate(invited, firm, baseUrl)).html);
  mails.set("trial-key", mailOf(keyLetter("1", "dana@example.com", `svc_pk_test_${"a".repeat(52)}`, baseUrl)).html);
  return mails;
}
