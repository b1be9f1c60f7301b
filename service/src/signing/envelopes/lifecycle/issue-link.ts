import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { enqueueTimed, type Timed } from "../../../kernel/platform/jobs/jobs.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { type Envelope, type Signer, updateSigner } from "../records/envelope.ts";
import type { SigningLinks } from "../records/link-tokens.ts";
import { renewSessionLink, updatePerson } from "../records/sessions.ts";
import { appendToTrail } from "../records/trail.ts";

/** The queue of mails to signers; payload `SigningMail`. */
export const signingMailQueue = "signing-mail";

export type SigningMoment =
  | "request"
  | "reminder"
  | "code"
  | "way_in"
  | "signed"
  | "notarized"
  | "notarized_notice"
  | "ended"
  | "replaced";

export type SigningMail = {
  signerId: number;
  /**
   * The kind of mail. `joined` sends no mail: after the order was added to a room, the job searches the order's rooms
   * for other documents of the signer.
   */
  moment: SigningMoment | "joined";
  /**
   * The link (`linkId`) or code (`codeId`) that the mail contains. If it was replaced before the mail is sent, the mail
   * is discarded.
   */
  linkId?: string;
  codeId?: string;
  /**
   * Set for a mail to a signer who was replaced: that person's email address and language, and the id of the signing
   * session that the document has left.
   */
  former?: { email: string; language: Language; sessionId?: string };
  /**
   * The time when the mail was requested (ISO 8601). It tells apart mails of the same kind to one signer, such as
   * reminders.
   */
  at?: string;
} & Timed;

/**
 * Creates a new link for a signer, and queues its mail. The earlier link stops working. The transaction must have
 * locked the envelope.
 */
export async function issueLink(
  tx: Tx,
  { rowMac, reach }: { rowMac: RowMac; reach: { links: Pick<SigningLinks, "tokenOf"> } },
  envelope: Envelope,
  signer: Pick<Signer, "id" | "n">,
  { at, actor }: { at: Date; actor: string },
): Promise<void> {
  const linkId = newUuid();
  await forgetLink(tx, reach.links, signer.id);
  await updateSigner(
    tx,
    signer.id,
    sql`link_id = ${linkId}, token_sha256 = ${tokenSha256(reach.links.tokenOf(linkId))},
      issued_at = ${at}, session_sha256 = NULL, session_expires_at = NULL`,
  );
  await appendToTrail(tx, rowMac, envelope, "link_issued", at, { signer: signer.n });
  const { partnerId, orderId } = envelope;
  const detail = { signer: signer.n, attempt: envelope.attempt };
  await tx.query(auditLine({ at, action: "signing_link.issued", actor, partnerId, orderId, detail }));
  await enqueueTimed(tx, signingMailQueue, { signerId: signer.id, moment: "request", linkId });
}

/**
 * Ends the codes of the signer's earlier link, if there is one. If that link belongs to a session, the session also
 * gets a new link.
 */
async function forgetLink(tx: Tx, links: Pick<SigningLinks, "tokenOf">, signerId: number): Promise<void> {
  const [before] = await tx.query(sql`SELECT FROM envelope_signers WHERE id = ${signerId} AND issued_at IS NOT NULL`);
  if (!before) return;
  await renewSessionLink(tx, links, signerId);
  await updatePerson(
    tx,
    signerId,
    sql`code_id = NULL, code_sent_at = NULL, codes_requested = 0, codes_of_day = 0, codes_day_at = NULL`,
  );
}

/** Queues mails to everybody who has received a link. @param moment the kind of mail */
export const mailEverybody = (tx: Tx, envelopeId: number, moment: SigningMoment) =>
  tx.query(sql`
    SELECT enqueue_job(${signingMailQueue}, jsonb_build_object('signerId', id, 'moment', ${moment}::text, 'queuedAt', clock_timestamp()), now())
    FROM envelope_signers WHERE envelope_id = ${envelopeId} AND issued_at IS NOT NULL`);
