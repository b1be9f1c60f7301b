import { keyMail } from "../../../src/access-requests/mail.ts";
import { mailWords as signerWords } from "../../../src/envelopes/mails/words.ts";
import { mailOf } from "../../../src/fulfilment/mail-templates.ts";
import { mailWords as orderWords } from "../../../src/fulfilment/mail-words.ts";
import type { MailMoment } from "../../../src/orders/orders.ts";
import { type MailFirm, mailFrom } from "../../../src/platform/mail/template.ts";
import { invitationMail } from "../../../src/rooms/participants/mail.ts";
import { links, order } from "../../fulfilment/mail-samples.ts";

const baseUrl = "https://sign.example";
const at = "2026-01-05T10:00:00.000Z";

/** A mail of each kind, by its name, as it is shown. */
export function everyMail({ firm, title }: { firm: MailFirm; title: string }): Map<string, string> {
  const mails = new Map<string, string>();
  for (const moment of Object.keys(orderWords) as MailMoment[])
    mails.set(moment, mailOf(moment, at, { ...order, firm, title }, links).html);
  const facts = { title, partnerName: firm.name, until: "December 1, 2026", outcome: "Expired" } as const;
  for (const language of ["en", "es"] as const)
    for (const [moment, words] of Object.entries(signerWords[language])) {
      const { label, ...said } = words(facts);
      const code = moment === "code" ? { code: "123456" } : {};
      const link = label === "" ? null : { label, url: `${baseUrl}/sign/${"c".repeat(40)}` };
      mails.set(
        `signer-${moment}-${language}`,
        mailFrom({ ...said, ...code, greeting: "Hello,", link, language, firm }).html,
      );
    }
  const room = { name: "Dana Whitfield", email: "dana@example.com", roomCode: "d".repeat(40), roomName: title };
  const invited = { ...room, partnerId: "p", environment: "live" } as const;
  mails.set("room-invitation", invitationMail(invited, firm, baseUrl).html);
  mails.set("trial-key", keyMail("1", "dana@example.com", `svc_pk_test_${"a".repeat(52)}`, baseUrl).html);
  return mails;
}
