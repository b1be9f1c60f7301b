import type { SigningMoment } from "../../lifecycle/issue-link.ts";
import type { Envelope } from "../../records/envelope.ts";

/** The facts that a mail to a signer states. */
export type MailFacts = {
  title: string;
  partnerName: string;
  /** The deadline for signing, in the reader's language with its time zone. */
  until: string;
  /** How the envelope ended; null while people are signing. */
  outcome: Envelope["outcome"];
  /** Names of the signers that a mail may show, in order. */
  signers: readonly string[];
  /** The firm's own reference; null when it has none that a mail may show, and when it is already the title. */
  reference: string | null;
  /** The firm's own message to the signers; null for none. */
  message: string | null;
};

/** The words of a mail. The button leads to the signing link. `caution` replaces the usual warning. */
export type MailWords = { subject: string; lines: string[]; label: string; caution?: string };

/** The words of all mails that don't depend on the moment. */
export type CommonWords = {
  /** Used in place of a title that a mail may not show. */
  untitled: string;
  /** Used in place of a firm's name that a mail may not show. */
  unnamed: string;
  greeting: (name: string) => string;
  /** The number of documents, for a mail about several. */
  documents: (count: number) => string;
  why: (firm: string) => string;
};

/** The mails of a language. */
export type SignerMails = {
  readonly common: CommonWords;
  readonly caution: (outcome: MailFacts["outcome"]) => string;
  /** The line about who has signed, and the line with the firm's reference. */
  readonly signedBy: (names: string) => string;
  readonly reference: (reference: string) => string;
  readonly moments: Readonly<
    Record<SigningMoment, (facts: MailFacts & { readonly about: readonly string[] }) => MailWords>
  >;
};
