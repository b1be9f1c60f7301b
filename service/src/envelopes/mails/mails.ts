import type { Environment } from "../../identity/identity.ts";
import type { Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { Jobs } from "../../platform/jobs/jobs.ts";
import type { Mail, Mailer } from "../../platform/mail/mail.ts";
import { isPlainTitle } from "../../platform/mail/plain-name.ts";
import { mailFrom } from "../../platform/mail/template.ts";
import { signingCode } from "../ceremony/identify.ts";
import type { Language } from "../ceremony/view.ts";
import type { EnvelopeDeps } from "../lifecycle/deps.ts";
import { issueLink, type SigningMail, signingMailQueue, signingTokenOf } from "../lifecycle/links.ts";
import { type Auth, type Envelope, lockEnvelope } from "../records/envelope.ts";
import { endingOf } from "../texts/texts.ts";
import { mailWords } from "./words.ts";

type Row = {
  id: number;
  n: number;
  envelopeId: number;
  email: string;
  phone: string | null;
  auth: Auth;
  language: Language;
  linkId: string | null;
  tokenSha256: Buffer | null;
  codeId: string | null;
  signed: boolean;
  environment: Environment;
  title: string | null;
  partnerName: string;
  replyTo: string | null;
  expiresAt: Date;
  outcome: Envelope["outcome"];
};

const rowStatement = (signerId: number) => sql`
  SELECT s.id, s.n, s.envelope_id AS "envelopeId", s.email, s.phone, s.auth, s.language, s.link_id AS "linkId",
    s.token_sha256 AS "tokenSha256", s.code_id AS "codeId",
    s.signed_at IS NOT NULL AS signed, o.environment, coalesce(o.external_reference, o.doc_slug) AS title,
    coalesce(p.brand_name, p.name) AS "partnerName", p.contact_email AS "replyTo", e.expires_at AS "expiresAt", e.outcome
  FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id JOIN orders o ON o.id = e.order_id
    JOIN partners p ON p.id = o.partner_id
  WHERE s.id = ${signerId}`;

const untitled: Readonly<Record<Language, string>> = { en: "your document", es: "su documento" };
const greetings: Readonly<Record<Language, string>> = { en: "Hello,", es: "Hola:" };

type MailDeps = Pick<EnvelopeDeps, "db" | "clock" | "rowMac" | "secrets" | "baseUrl"> & { mailer: Mailer };

/** A day and more: who gets no link is only reminded two days later. */
const maxAttempts = 40;

/** Mails to signers, written from the records at the time of sending; what no longer holds then is not sent. */
export function signingMailJobs(jobs: Jobs, deps: MailDeps): void {
  const { db, secrets, mailer } = deps;
  jobs.work<SigningMail>(
    signingMailQueue,
    async (about) => {
      const [row] = await db.query<Row>(rowStatement(about.signerId));
      if (!row?.linkId || !row.tokenSha256 || isStale(row, about)) return;
      const token = signingTokenOf(secrets, row.linkId, row.tokenSha256);
      const asks = about.moment === "request" || about.moment === "reminder";
      if (token === null && asks) return issueAnew(deps, row);
      const mail = signingMail(deps, row, about, token);
      // The signer of a test order may be anybody: nothing is sent to them.
      await (row.environment === "test" ? mailer.keep(mail) : mailer.send(mail));
    },
    { maxAttempts },
  );
}

function isStale({ linkId, codeId, signed, outcome }: Row, about: SigningMail): boolean {
  switch (about.moment) {
    case "request":
      return linkId !== about.linkId || signed || outcome !== null;
    case "reminder":
      return signed || outcome !== null;
    case "code":
      return codeId === null || codeId !== about.codeId;
    default:
      return false;
  }
}

/** A link whose key is gone can't be written any more: the signer gets another, by a mail of its own. */
async function issueAnew(deps: MailDeps, { id, n, envelopeId, linkId }: Row): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const envelope = await lockEnvelope(tx, envelopeId);
    if (!envelope || envelope.endedAt !== null || !(await hasLink(tx, id, linkId))) return;
    await issueLink(tx, deps, envelope, { id, n }, { at: deps.clock(), actor: "system" });
  });
}

const hasLink = async (tx: Tx, signerId: number, linkId: string | null): Promise<boolean> =>
  (
    await tx.query(sql`
      SELECT FROM envelope_signers WHERE id = ${signerId} AND link_id = ${linkId} AND signed_at IS NULL`)
  ).length === 1;

/** Stands in the mail that is kept for a test order. */
const insteadOfText = (phone: string): string =>
  `For a live order this code goes by text message to the number ending ${endingOf(phone)}. For a test order none is sent.`;

/** @param token of the signer's link; null when its key is gone: then the mail has no button */
function signingMail(
  { secrets, baseUrl }: MailDeps,
  row: Row,
  { signerId, moment, codeId, former, at }: SigningMail,
  token: string | null,
): Mail {
  const { language, email } = former ?? row;
  const until = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" }).format(row.expiresAt);
  const title = row.title !== null && isPlainTitle(row.title) ? row.title : untitled[language];
  const texted = moment === "code" && row.auth === "text_code" && row.phone ? insteadOfText(row.phone) : null;
  const { label, ...words } = mailWords[language][moment]({ ...row, title, until });
  return {
    id: `signing:${signerId}:${moment}:${codeId ?? row.linkId}:${at ?? ""}`,
    to: email,
    onBehalfOf: row.partnerName,
    replyTo: row.replyTo,
    ...mailFrom({
      ...words,
      lines: [...(texted ? [texted] : []), ...words.lines],
      subject: row.environment === "test" ? `TEST: ${words.subject}` : words.subject,
      greeting: greetings[language],
      ...(codeId === undefined ? {} : { code: signingCode(secrets, codeId) }),
      link: token === null || former ? null : { label, url: `${baseUrl}/sign/${token}` },
      language,
    }),
  };
}
