import type { MailMoment } from "../orders/orders.ts";
import type { Mail } from "../platform/mail/mail.ts";
import { isPlainName, isPlainTitle } from "../platform/mail/plain-name.ts";
import { type MailFirm, mailFrom, nameIn } from "../platform/mail/template.ts";
import { type MailFacts, type MailGoal, mailWords } from "./mail-words.ts";

/** The order that a mail is about. */
export type MailOrder = Omit<MailFacts, "firm"> & {
  code: string;
  customerEmail: string;
  customerName: string | null;
  /** What its document is called; null when nothing says so. */
  title: string | null;
  firm: MailFirm;
};

/** Where the mails of an order lead. */
export type MailLinks = Record<"page" | "documents", string>;

const buttons: Readonly<Record<MailGoal, string>> = {
  page: "See your order",
  payment: "Review and pay",
  documents: "Download your documents",
};

const greetingOf = (customerName: string | null): string =>
  customerName !== null && isPlainName(customerName) ? `Hello ${customerName},` : "Hello,";

/** The mail of a moment. @param at tells those of one moment apart */
export function mailOf(moment: MailMoment, at: string, order: MailOrder, links: MailLinks): Mail {
  const { subject, lines, goal, facts = [] } = mailWords[moment]({ ...order, firm: nameIn(order.firm, "the firm") });
  const title = order.title !== null && isPlainTitle(order.title) ? order.title : null;
  const all: readonly (readonly [string, string | null])[] = [["Document", title], ...facts];
  return {
    id: `order:${order.code}:${moment}:${at}`,
    to: order.customerEmail,
    ...mailFrom({
      subject: title === null ? subject : `${subject}: ${title}`,
      heading: subject,
      greeting: greetingOf(order.customerName),
      lines,
      facts: all.flatMap(([label, value]) => (value ? [[label, value] as const] : [])),
      link: { label: buttons[goal], url: goal === "documents" ? links.documents : links.page },
      caution: `Anyone who has this link can ${goal === "documents" ? "download the documents" : "see the order"}, so share it with care.`,
      why: `You receive it because ${nameIn(order.firm, "the firm")} placed an order for this email address.`,
      firm: order.firm,
    }),
  };
}
