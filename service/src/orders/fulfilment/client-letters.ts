/** Writes the mails to an order's client. */
import type { Letter } from "../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName, isPlainTitle } from "../../kernel/platform/mail/plain-name.ts";
import { type Fact, type MailFirm, nameIn } from "../../kernel/platform/mail/template.ts";
import { dollars } from "../dollars.ts";
import { type MailMoment, numberedNames } from "../order/order.ts";
import { aboutMoney } from "./client-mails.ts";
import { type MailFacts, type MailGoal, mailWords } from "./mail-words.ts";
import { togetherWords } from "./together-words.ts";

export type MailOrder = Omit<MailFacts, "firm"> & {
  code: string;
  customerEmail: string;
  customerName: string | null;
  /** The title of the order's document; null when unknown. */
  title: string | null;
  /** The firm's own reference for the order, such as a file number. */
  reference: string | null;
  firm: MailFirm;
};

type MailLinks = Record<"page" | "documents" | "closing", string>;

const buttons: Readonly<Record<MailGoal, string>> = {
  page: "See your order",
  payment: "Review and pay",
  documents: "Download your documents",
};

/** Writes the mail about several documents of a closing: for each, the amount or the link to its copies. */
export function letterTogether(
  moment: MailMoment,
  { id, closing, firm }: { id: string; closing: string | null; firm: MailFirm },
  orders: readonly (MailOrder & { links: MailLinks })[],
): Letter {
  const [first] = orders;
  const write = togetherWords[moment];
  if (!first || !write) throw new Error(`no mail of the moment ${moment} is about several orders`);
  const { subject, lines, goal, amountOf } = write({ firm: nameIn(firm, "the firm"), orders });
  const count = `${orders.length} documents`;
  const about = closing !== null && isPlainTitle(closing) ? `${closing} (${count})` : count;
  const files = new Set(orders.map((order) => fileOf(moment, order)));
  const [file = null] = files.size === 1 ? files : [];
  const names = numberedNames(
    orders.map((order, index) => {
      const name = order.title !== null && isPlainTitle(order.title) ? order.title : `Document ${index + 1}`;
      const own = files.size > 1 ? fileOf(moment, order) : null;
      return own === null ? name : `${name} (file ${own})`;
    }),
  );
  const rows = orders.map(({ links, ...order }, index): Fact => {
    const name = names[index] ?? "";
    if (goal === "documents") return [name, order.isSimulated ? "Download (simulated)" : "Download", links.documents];
    const cents = amountOf?.(order) ?? null;
    if (cents === null) return [`Document ${index + 1}`, name];
    // Each row links to the closing by its own order. So the link still works if the first order leaves the room.
    return goal === "payment" ? [name, dollars(cents), links.closing] : [name, dollars(cents)];
  });
  const amounts = orders.flatMap((order) => amountOf?.(order) ?? []);
  const total = amounts.reduce((sum, cents) => sum + cents, 0);
  return {
    id: `order:${id}`,
    to: first.customerEmail,
    isOfFinished: goal === "documents",
    subject: `${subject}: ${about}`,
    heading: subject,
    greeting: greetingOf(first.customerName),
    lines,
    facts: [
      ...(file === null ? [] : [["File", file] as const]),
      ...rows,
      ...(amounts.length === orders.length ? [["Total", dollars(total)] as const] : []),
    ],
    link:
      goal === "documents" && closing === null
        ? null
        : { label: goal === "payment" ? "Review and pay" : "See your closing", url: first.links.closing },
    caution: `Anyone who has ${goal === "documents" ? "these links can download the documents" : "this link can see the orders and pay for them"}, so share ${goal === "documents" ? "them" : "it"} with care.`,
    why: `You receive it because ${nameIn(firm, "the firm")} placed orders for this email address.`,
    firm,
  };
}

/** The file number for a mail about money; null in other mails, and for a file number that is not plain text. */
const fileOf = (moment: MailMoment, { reference }: Pick<MailOrder, "reference">): string | null =>
  aboutMoney.has(moment) && reference !== null && isPlainTitle(reference) ? reference : null;

const greetingOf = (customerName: string | null): string =>
  customerName !== null && isPlainName(customerName) ? `Hello ${customerName},` : "Hello,";

/** Writes the mail about one order. @param at distinguishes several mails of the same kind about the order */
export function letterOf(moment: MailMoment, at: string, order: MailOrder, links: Omit<MailLinks, "closing">): Letter {
  const { subject, lines, goal, facts = [] } = mailWords[moment]({ ...order, firm: nameIn(order.firm, "the firm") });
  const title = order.title !== null && isPlainTitle(order.title) ? order.title : null;
  const all: readonly (readonly [string, string | null])[] = [
    ["Document", title],
    ["File", fileOf(moment, order)],
    ...facts,
  ];
  return {
    id: `order:${order.code}:${moment}:${at}`,
    to: order.customerEmail,
    isOfFinished: goal === "documents",
    subject: title === null ? subject : `${subject}: ${title}`,
    heading: subject,
    greeting: greetingOf(order.customerName),
    lines,
    facts: all.flatMap(([label, value]) => (value ? [[label, value] as const] : [])),
    link: { label: buttons[goal], url: goal === "documents" ? links.documents : links.page },
    caution: `Anyone who has this link can ${goal === "documents" ? "download the documents" : "see the order"}, so share it with care.`,
    why: `You receive it because ${nameIn(order.firm, "the firm")} placed an order for this email address.`,
    firm: order.firm,
  };
}
