import type { Environment } from "../../identity/identity.ts";
import { sql } from "../../platform/database/sql.ts";
import type { Jobs } from "../../platform/jobs/jobs.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { mailFrom } from "../../platform/mail/template.ts";
import { signingCode } from "../ceremony/identify.ts";
import type { Language } from "../ceremony/view.ts";
import type { EnvelopeDeps } from "../lifecycle/deps.ts";
import { type SigningMoment, signingMailQueue, signingTokenOf } from "../lifecycle/links.ts";
import { mailWords } from "./words.ts";

type Payload = { signerId: number; moment: SigningMoment; linkId?: string; codeId?: string };

type Row = {
  name: string;
  email: string;
  language: Language;
  linkId: string | null;
  tokenSha256: Buffer | null;
  codeId: string | null;
  signed: boolean;
  environment: Environment;
  title: string;
  partnerName: string;
  expiresAt: Date;
  outcome: "Completed" | "Declined" | "Expired" | "Voided" | null;
};

const rowStatement = (signerId: number) => sql`
  SELECT s.name, s.email, s.language, s.link_id AS "linkId", s.token_sha256 AS "tokenSha256", s.code_id AS "codeId",
    s.signed_at IS NOT NULL AS signed, o.environment, coalesce(o.external_reference, o.doc_slug, 'your document') AS title,
    coalesce(p.brand_name, p.name) AS "partnerName", e.expires_at AS "expiresAt", e.outcome
  FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id JOIN orders o ON o.id = e.order_id
    JOIN partners p ON p.id = o.partner_id
  WHERE s.id = ${signerId}`;

/** Mails to signers, written from the records at the time of sending; what no longer holds then is not sent. */
export function signingMailJobs(
  jobs: Jobs,
  deps: Pick<EnvelopeDeps, "db" | "secrets" | "baseUrl"> & { mailer: Mailer },
): void {
  const { db, secrets, mailer, baseUrl } = deps;
  jobs.work<Payload>(signingMailQueue, async ({ signerId, moment, linkId, codeId }) => {
    const [row] = await db.query<Row>(rowStatement(signerId));
    if (!row?.linkId || !row.tokenSha256) return;
    const isStale = {
      request: row.linkId !== linkId || row.signed || row.outcome !== null,
      reminder: row.signed || row.outcome !== null,
      code: row.codeId === null || row.codeId !== codeId,
      signed: false,
      ended: false,
    };
    if (isStale[moment]) return;
    const token = signingTokenOf(secrets, row.linkId, row.tokenSha256);
    if (token === null) throw new Error("the key that made a signing link is not there");
    const until = new Intl.DateTimeFormat(row.language, { dateStyle: "long", timeZone: "UTC" }).format(row.expiresAt);
    const { label, ...words } = mailWords[row.language][moment]({ ...row, until });
    const test = row.environment === "test";
    const mail = {
      id: `signing:${signerId}:${moment}:${codeId ?? row.linkId}`,
      to: row.email,
      ...mailFrom({
        ...words,
        subject: test ? `TEST: ${words.subject}` : words.subject,
        greeting: row.language === "es" ? "Hola:" : "Hello,",
        ...(codeId === undefined ? {} : { code: signingCode(secrets, codeId) }),
        link: { label, url: `${baseUrl}/sign/${token}` },
      }),
    };
    // The signer of a test order may be anybody: nothing is sent to them.
    await (test ? mailer.keep(mail) : mailer.send(mail));
  });
}
