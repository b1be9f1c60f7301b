import type { SigningMoment } from "../../lifecycle/issue-link.ts";
import type { Envelope } from "../../records/envelope.ts";

/** The facts that a mail to a signer states. */
export type MailFacts = {
  title: string;
  partnerName: string;
  /** The deadline for signing, in the reader's language and with its time zone. */
  until: string;
  /** How the envelope ended; null while people are signing. */
  outcome: Envelope["outcome"];
  /** The signer who ended the signing to sign on paper: the reader, or another one; null for none. */
  askedForPaper: "reader" | "another" | null;
  /** The names for the line about who has signed, in the order of the signers. Empty if the mail has no such line. */
  signers: readonly string[];
  /**
   * The firm's own reference. Null when the order has none, when mails must not show it, when the title already is the
   * reference, and in a mail about several documents.
   */
  reference: string | null;
  /** The firm's own message to the signers; null for none. */
  message: string | null;
  /**
   * Tells if a replaced signer's link still opens other documents. `awaited`: the person still has to sign one of them.
   * `open`: the person has to sign none of them. Null: the link opens no other document.
   */
  others: "awaited" | "open" | null;
  /** The amount that the reader has paid, if the mail tells of a payment; null for none. */
  paid: string | null;
};

/**
 * The words of a mail. `label` is on the button that leads to the signing link. `caution` replaces the usual warning.
 */
export type MailWords = { subject: string; lines: string[]; label: string; caution?: string };

/**
 * The kinds of words. `entry` replaces `code` in a mail with a code while wrong codes lock the link, because only the
 * mail's link works then.
 */
export type WordsKind = SigningMoment | "entry";

/** The words that all kinds of mails share. */
export type CommonWords = {
  /** Replaces a document title that mails must not show. */
  untitled: string;
  /** Replaces a firm's name that mails must not show. */
  unnamed: string;
  greeting: (name: string) => string;
  /** The phrase for `count` documents, in a mail about several documents. */
  documents: (count: number) => string;
  why: (firm: string) => string;
};

/** The words of all mails to signers in one language. */
export type SignerMails = {
  readonly common: CommonWords;
  readonly caution: (outcome: MailFacts["outcome"]) => string;
  /** The line about who has signed, and the line with the firm's reference. */
  readonly signedBy: (names: string) => string;
  readonly reference: (reference: string) => string;
  readonly moments: Readonly<
    Record<WordsKind, (facts: MailFacts & { readonly about: readonly string[] }) => MailWords>
  >;
};
