import { readAnsweringFirm } from "../../../firms/members/members.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { type Language, zonedText } from "../../../kernel/platform/languages.ts";
import { defineMail, type Letter, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName, isPlainTitle } from "../../../kernel/platform/mail/plain-name.ts";
import { type MailFirm, nameIn } from "../../../kernel/platform/mail/template.ts";
import { dollars } from "../../../orders/dollars.ts";
import {
  claimMentionedPayments,
  keepClientMail,
  type MentionedPayments,
} from "../../../orders/fulfilment/fulfilment.ts";
import {
  correctionsOf,
  currentEmail,
  joinOrder,
  type Titled,
  verifiedOrder,
  verifiedSigner,
} from "../../../orders/order/order.ts";
import { zoneOrDefault } from "../../../orders/payments/payments.ts";
import { messageFor } from "../../../orders/templates/templates.ts";
import { longCode, signingCode, signingEntry } from "../ceremony/codes.ts";
import { distinctNames, type Naming } from "../lifecycle/distinct-names.ts";
import { issueLink, type SigningMail, type SigningMoment, signingMailQueue } from "../lifecycle/issue-link.ts";
import type { Closing } from "../lifecycle/join-session.ts";
import { type Auth, type Envelope, findSigners, isLocked, lockEnvelope } from "../records/envelope.ts";
import { signingLinks, signingTokenOf } from "../records/link-tokens.ts";
import { placeOfSigner, type SessionPlace } from "../records/sessions.ts";
import { paperAsker } from "../records/trail.ts";
import { endingOf } from "../texts/texts.ts";
import { noticesWithLink } from "./notices.ts";
import { claimOf, gather, othersIn, release } from "./together.ts";
import type { MailFacts } from "./words/facts.ts";
import { commonWords, mailCaution, mailWords, sentence } from "./words.ts";

/** The facts from which a mail names a document. */
type Nameable = Titled & { orderId: number; reference: string | null };

type Row = Nameable & {
  id: number;
  n: number;
  envelopeId: number;
  name: string;
  email: string;
  phone: string | null;
  auth: Auth;
  language: Language;
  linkId: string | null;
  tokenSha256: Buffer | null;
  codeId: string | null;
  lockedAt: Date | null;
  signed: boolean;
  environment: Environment;
  partnerId: string;
  expiresAt: Date;
  outcome: Envelope["outcome"];
  issuedAt: Date | null;
  endedAt: Date | null;
  /** True if the signer has the email address of the order's client. */
  isClient: boolean;
};

const rowsOf = (db: Sql, signerIds: readonly number[]) =>
  db.query<Row>(sql`
  SELECT s.id, e.order_id AS "orderId", s.n, s.envelope_id AS "envelopeId", s.name, s.email, s.phone, s.auth, s.language, s.link_id AS "linkId",
    s.token_sha256 AS "tokenSha256", s.code_id AS "codeId", s.locked_at AS "lockedAt",
    s.signed_at IS NOT NULL AS signed, o.environment, o.code AS "code@order", o.document_name AS "documentName", o.doc_slug AS "docSlug",
    o.external_reference AS reference, o.partner_id AS "partnerId", e.expires_at AS "expiresAt", e.outcome,
    s.issued_at AS "issuedAt", e.ended_at AS "endedAt", lower(s.email) = lower(o.customer_email) AS "isClient", ${verifiedOrder}, ${verifiedSigner}
  FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id ${joinOrder(sql`e.order_id`)}
  WHERE s.id = ANY (${signerIds}::bigint[]) ORDER BY array_position(${signerIds}::bigint[], s.id)`);

type Deps = MailDeps & Naming;

/** Mails to signers. */
export const signingMail = defineMail({
  queue: signingMailQueue,
  // Retries for more than a day, because the next mail with the link, a reminder, follows only after two days.
  maxAttempts: 40,
  async load(about: SigningMail, deps: Deps): Promise<Found | null> {
    const { db } = deps;
    const [row] = await rowsOf(db, [about.signerId]);
    if (!row?.linkId || !row.tokenSha256 || isStale(row, about, deps.clock())) {
      await release(db, about);
      return null;
    }
    const gathered = about.former
      ? { together: null }
      : await gather({ ...deps, links: signingLinks(deps.secrets, deps.baseUrl) }, row, about);
    if (!gathered) return null;
    const { moment } = about;
    if (moment === "joined") return null;
    const { together } = gathered;
    const { linkId, tokenSha256 } = together?.place ?? row;
    const token = linkId && tokenSha256 && signingTokenOf(deps.secrets, linkId, tokenSha256);
    if (token === null && (moment === "request" || moment === "reminder")) {
      await reissueLink(deps, row);
      return null;
    }
    const rows = together ? await rowsOf(db, together.signerIds) : [row];
    const signers = moment === "signed" && rows.length === 1 ? await findSigners(db, rows[0]?.envelopeId ?? 0) : [];
    const signedBy = signers.map(({ name }) => name).filter(isPlainName);
    const asking = { orderId: row.orderId, email: row.email, mail: claimOf(about) };
    const paid = moment === "request" && !about.former ? await claimMentionedPayments(deps, asking) : null;
    const message = moment === "request" ? await messageFor(deps, row.orderId) : null;
    const firm = await readAnsweringFirm(deps, row);
    const zone = await zoneOrDefault(db, row.partnerId);
    const linked = rows.map(({ orderId }) => orderId);
    const noticed = moment === "notarized" ? await noticesWithLink(deps, linked, row) : [];
    // The mails and codes of a person who has signed go to the corrected address. The signed records keep the address
    // that was valid at the signature.
    const to = row.signed ? currentEmail(await correctionsOf(db, row.orderId), row) : row.email;
    const asker = moment === "ended" ? await paperAsker(db, row.envelopeId) : null;
    const askedForPaper: MailFacts["askedForPaper"] = asker === null ? null : asker === row.n ? "reader" : "another";
    const found = { askedForPaper, to, rows, signedBy, message, firm, zone, token, moment, paid, noticed };
    const left = about.former?.sessionId ? await othersIn(deps, about.former.sessionId, row.orderId) : null;
    if (left) {
      const closing = await closingWith(deps, row.orderId, left.place);
      const named = closing && { ...closing, documents: [...closing.documents, row] };
      return { ...found, path: "", closing: named, others: left.others };
    }
    if (!together) return { ...found, path: "", closing: null };
    const path = rows.length === 1 ? `/${await numberOf(db, rows[0]?.id ?? 0)}` : "";
    return { ...found, path, closing: await closingWith(deps, row.orderId, together.place) };
  },
  write: (found, about, deps) => letterOf(deps, found, about),
  async onSent({ paid, rows, moment }, _about, { db, clock }) {
    if (paid) await keepClientMail(db, { moment: "payment_received", at: paid.at }, paid.orderIds, clock());
    if (moment !== "signed") return;
    // If the client signed, the mail is recorded, so that the firm's order page lists it. No other mail tells the
    // client that everybody has signed.
    for (const { orderId, endedAt, isClient } of rows)
      if (isClient && endedAt !== null)
        await keepClientMail(db, { moment, at: endedAt.toISOString() }, [orderId], clock());
  },
});

/** The room of a session, with the documents that its person signs there; null if the order is not in the room. */
async function closingWith({ db, closingsOf }: Deps, orderId: number, { id, roomId }: SessionPlace) {
  const closing = (await closingsOf(db, orderId)).find((each) => each.id === roomId);
  if (!closing) return null;
  const labels = closing.labels.map((label) => (label !== null && isPlainTitle(label) ? label : null));
  // These titles only tell documents apart. No MAC is checked: otherwise one altered order would stop the mails about
  // the other orders.
  const documents = await db.query<Nameable>(sql`
    SELECT o.id AS "orderId", o.code AS "code@order", o.document_name AS "documentName", o.doc_slug AS "docSlug", o.external_reference AS reference
    FROM session_signers m JOIN envelope_signers s ON s.id = m.signer_id JOIN envelopes e ON e.id = s.envelope_id ${joinOrder(sql`e.order_id`)}
    WHERE m.session_id = ${id}`);
  return { ...closing, labels, documents };
}

const numberOf = async (db: Sql, signerId: number): Promise<number> => (await placeOfSigner(db, signerId))?.n ?? 1;

function isStale({ linkId, codeId, signed, outcome, expiresAt }: Row, about: SigningMail, now: Date): boolean {
  const isOver = outcome !== null || expiresAt.getTime() <= now.getTime();
  switch (about.moment) {
    case "request":
      return linkId !== about.linkId || signed || isOver;
    case "reminder":
      return signed || isOver;
    case "code":
    case "way_in":
      return codeId === null || codeId !== about.codeId || (outcome !== "Completed" && isOver);
    default:
      return false;
  }
}

/**
 * Issues a new link, in a separate mail, when the secret from which the current link's token was derived is missing.
 * The current link's URL can't be derived again then.
 */
async function reissueLink(deps: Deps, { id, n, envelopeId, linkId }: Row): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const envelope = await lockEnvelope(tx, envelopeId);
    if (!envelope || envelope.endedAt !== null || !(await hasLink(tx, id, linkId))) return;
    const { rowMac, secrets, baseUrl } = deps;
    const reach = { links: signingLinks(secrets, baseUrl) };
    await issueLink(tx, { rowMac, reach }, envelope, { id, n }, { at: deps.clock(), actor: "system" });
  });
}

const hasLink = async (tx: Tx, signerId: number, linkId: string | null): Promise<boolean> =>
  (
    await tx.query(sql`
      SELECT FROM envelope_signers WHERE id = ${signerId} AND link_id = ${linkId} AND signed_at IS NULL`)
  ).length === 1;

/**
 * A sentence for the stored mail of a test order. It names the phone number to which the code would be sent if the
 * order were live.
 */
const insteadOfText = (phone: string): string =>
  `For a live order this code goes by text message to the number ending ${endingOf(phone)}. For a test order none is sent.`;

type Found = {
  askedForPaper: MailFacts["askedForPaper"];
  /**
   * The address to which the mail goes. A mail to a signer who was replaced goes to the address in `former` instead.
   */
  to: string;
  /** The documents that the mail is about, in order; at least one. */
  rows: readonly Row[];
  firm: MailFirm;
  /** The firm's time zone. */
  zone: string;
  moment: SigningMoment;
  /**
   * For a mail `signed` about one document: the names of its signers, except names that mails must not show. Otherwise
   * empty.
   */
  signedBy: readonly string[];
  /** The firm's own message to the signers, in a mail `request`; null for none, and for other mails. */
  message: string | null;
  /** The payments that the mail mentions, for a signer who is the client; null for none. */
  paid: MentionedPayments | null;
  /** The token of the signer's link. Null when the secret that derives it is missing; the mail then has no button. */
  token: string | null;
  /**
   * The part of the link's path after the token. It selects a document when the link opens several documents and the
   * mail is about one of them.
   */
  path: string;
  /** The person's notarized documents without a link. The mail says that these are notarized, too. */
  noticed: readonly Pick<Row, keyof Titled | "reference">[];
  others?: MailFacts["others"];
  /** The room of the person's session, with all its documents; null without one, or if the order left it. */
  closing: (Closing & { documents: readonly Nameable[] }) | null;
};

function letterOf(
  { clock, secrets, baseUrl, titleOf }: Deps,
  {
    to,
    rows,
    firm,
    zone,
    moment,
    askedForPaper,
    signedBy,
    message,
    paid,
    token,
    path,
    closing,
    noticed,
    others = null,
  }: Found,
  { signerId, linkId, codeId, former, at }: SigningMail,
): Letter {
  const [row] = rows;
  if (!row) throw new Error("a mail to a signer is about no document");
  const { language, email } = former ?? { ...row, email: to };
  const { untitled, unnamed, greeting, why, documents } = commonWords[language];
  const until = zonedText(new Date(Math.min(...rows.map(({ expiresAt }) => expiresAt.getTime()))), zone, language);
  const reference = row.reference !== null && isPlainTitle(row.reference) ? row.reference : null;
  const titleIn = (one: Found["noticed"][number]) =>
    [titleOf(one), one.reference].find((each) => each && isPlainTitle(each)) ?? untitled;
  const count = documents(rows.length);
  const ofAll = closing !== null && isPlainTitle(closing.name) ? `${closing.name} (${count})` : count;
  const nameOf = distinctNames<Nameable>(closing?.documents ?? rows, titleIn, closing);
  const title = rows.length === 1 ? nameOf(row) : ofAll;
  const partnerName = nameIn(firm, unnamed);
  const texted = moment === "code" && row.auth === "text_code" && row.phone ? insteadOfText(row.phone) : null;
  const facts = {
    title,
    partnerName,
    until,
    outcome: row.outcome,
    askedForPaper,
    signers: signedBy,
    message,
    paid: paid && paid.totalCents > 0 ? dollars(paid.totalCents) : null,
    others,
    reference: rows.length > 1 || reference === titleIn(row) ? null : reference,
  };
  // While wrong codes lock the link, the page refuses the six digits. Only a mail's entry link works, or a long code.
  const locked = isLocked(row, row, clock());
  const kind = moment === "code" && locked && row.auth !== "text_code" ? "entry" : moment;
  const words = mailWords[language][kind](facts);
  const notices = noticed.map((one) => {
    const { lines } = mailWords[language].notarized_notice({ ...facts, title: titleIn(one) });
    return lines.map(sentence).join(language === "zh" ? "" : " ");
  });
  const [first = "", ...further] = words.lines.map(sentence);
  const list = rows.length === 1 ? [] : rows.map((one, index) => `${index + 1}. ${nameOf(one)}`);
  const way = row.auth !== "text_code" && codeId !== undefined ? `/enter/${signingEntry(secrets, codeId)}` : "";
  const codeOf = locked ? longCode : signingCode;
  return {
    id: `signing:${signerId}:${moment}:${codeId ?? linkId ?? row.linkId}:${at ?? ""}`,
    to: email,
    environment: row.environment,
    isOfFinished: row.outcome === "Completed",
    subject: sentence(words.subject),
    // A former signer must not be greeted by the current signer's name.
    greeting: greeting(!former && isPlainName(row.name) ? ` ${row.name}` : ""),
    lines: [...(texted ? [texted] : []), first, ...list, ...further, ...notices],
    ...(codeId === undefined || kind !== "code" ? {} : { code: codeOf(secrets, codeId) }),
    link: token === null || former ? null : { label: words.label, url: `${baseUrl}/sign/${token}${path}${way}` },
    caution: words.caution ?? mailCaution[language](row.outcome),
    why: why(partnerName),
    language,
    firm,
  };
}
