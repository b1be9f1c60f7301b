/** How a signer is identified, besides the link that is mailed. */
export type SignerAuth = "link" | "mail_code" | "access_code" | "text_code";

export type Signer = {
  name: string;
  email: string;
  /** A 10-digit US number, or an international one in `+country` form. Required when `auth` is `text_code`. */
  phone?: string | undefined;
  /** 1 to 10: signers of one number sign in parallel, after those of lower numbers. Default 1. */
  routing?: number | undefined;
  /** Default: `signerAuth`. */
  auth?: SignerAuth | undefined;
  /** For `access_code`: what you tell the signer yourself. */
  accessCode?: string | undefined;
  /** Of mails and pages. Default `en`. */
  language?: "en" | "es" | undefined;
};

/** A place on a page as a reader shows it, in points (1/72 inch) from its upper left corner. */
export type SignatureField = {
  kind: "signature" | "initials" | "date" | "name" | "text";
  /** The signer's place in `signers`, from 1. */
  signer: number;
  /** From 1. */
  page: number;
  x: number;
  y: number;
  width: number;
  height: number;
  /** What the signer is asked for. */
  label?: string | undefined;
  /** Default true. */
  required?: boolean | undefined;
};

/** What an order is placed with. */
export type OrderFields = {
  /** Of the client. */
  email: string;
  /** Attests that the document is the client's own completed one. */
  byodConfirmed: true;
  /** 40 hex digits, in place of a document. */
  fillToken?: string | undefined;
  /** Of the client. */
  name?: string | undefined;
  /** A document of the catalog, which then decides on signing and notarization. */
  docSlug?: string | undefined;
  /** Have the document signed. */
  svcSign?: boolean | undefined;
  /** Have it notarized online. */
  svcNotary?: boolean | undefined;
  /** Have it shipped; send the `ship` fields with it. */
  svcShip?: boolean | undefined;
  /** Where the signer is: two letters. */
  signerState?: string | undefined;
  /** Where the document goes: two letters. */
  destState?: string | undefined;
  /** Your file number, up to 120 characters; it comes back in lists and webhooks. */
  externalReference?: string | undefined;
  shipName?: string | undefined;
  shipLine1?: string | undefined;
  shipLine2?: string | undefined;
  shipCity?: string | undefined;
  /** Two letters. */
  shipState?: string | undefined;
  /** ZIP or ZIP+4. */
  shipPostal?: string | undefined;
  /** `label` (default): a prepaid carrier label; `print_mail`: the service prints and mails it. */
  shipMethod?: "label" | "print_mail" | undefined;
  /** The return address; with it go the other `from` fields. */
  fromName?: string | undefined;
  fromLine1?: string | undefined;
  fromLine2?: string | undefined;
  fromCity?: string | undefined;
  fromState?: string | undefined;
  fromPostal?: string | undefined;
  /** Adds a fax: a 10-digit US number, or an international one in `+country` form. */
  faxTo?: string | undefined;
  /** Answers the hosted checkout, too. */
  createCheckout?: boolean | undefined;
  /** Who signs. Default: the client, alone. */
  signers?: readonly Signer[] | undefined;
  /** Where they sign. Default: the document's own signature fields, its tags, or a page that is added. */
  fields?: readonly SignatureField[] | undefined;
  /** How signers are identified who say nothing else. Default `link`. */
  signerAuth?: SignerAuth | undefined;
};
