import type { SigningMoment } from "../../lifecycle/issue-link.ts";
import type { Envelope } from "../../records/envelope.ts";

/** The facts that a mail to a signer states. */
export type MailFacts = {
  title: string;
  partnerName: string;
  /** Until when one can sign, in the reader's language, with its zone. */
  until: string;
  /** How the envelope ended; null while people sign. */
  outcome: Envelope["outcome"];
  /** Names of the signers that a mail may show, in their order. */
  signers: readonly string[];
  /** The firm's own reference; null where it sent none that a mail may show, and where it is the title. */
  reference: string | null;
  /** The firm's own words to the signers; null for none. */
  message: string | null;
};

/** The words of a mail; the button leads to the signing link. `caution` is one of its own. */
export type MailWords = { subject: string; lines: string[]; label: string; caution?: string };

/** The words of all mails that do not depend on the moment. */
export type CommonWords = {
  /** In place of a title that a mail may not show. */
  untitled: string;
  /** In place of a firm's name that a mail may not show. */
  unnamed: string;
  greeting: (name: string) => string;
  /** How many, of a mail about several. */
  documents: (count: number) => string;
  why: (firm: string) => string;
};

/** The mails of a language. */
export type SignerMails = {
  readonly common: CommonWords;
  readonly caution: (outcome: MailFacts["outcome"]) => string;
  /** Who signed, and the firm's reference: `about` of each moment has both. */
  readonly signedBy: (names: string) => string;
  readonly reference: (reference: string) => string;
  readonly moments: Readonly<
    Record<SigningMoment, (facts: MailFacts & { readonly about: readonly string[] }) => MailWords>
  >;
};
