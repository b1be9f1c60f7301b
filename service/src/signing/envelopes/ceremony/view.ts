import type { Environment } from "../../../kernel/identity/identity.ts";
import type { DocumentNotice } from "../../../kernel/pdf/unseen/notice.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import type { RuledField } from "../../../orders/order/order.ts";
import type { FieldKind, PreparedField } from "../pdf/fields.ts";

/** The present state that a link leads to. */
export type SigningState =
  /** A code is required first: see `step`. */
  | "identify"
  /** Too many wrong codes were entered. A sent entry link, or the firm, unlocks it. */
  | "locked"
  /** It is the turn of others. */
  | "waiting"
  /** The signer may read the document, consent and sign. */
  | "ready"
  /** The signer has signed, but others have not. */
  | "signed"
  /** Everybody has signed, and the document is sealed. */
  | "completed"
  | "declined"
  | "expired"
  | "voided";

/** The sealed document that everybody signed, and the certificate of how it was signed. */
export const copyKinds = ["sealed", "custody_certificate"] as const;
export type CopyKind = (typeof copyKinds)[number];

/** A field of the signer. Its position is in points from the upper left corner of the page as readers show it. */
export type ShownField = {
  readonly name: string;
  readonly kind: FieldKind | "mark";
  /** Counted from 1. */
  readonly page: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** The partner's label; null for a kind that needs none. */
  readonly label: string | null;
  readonly required: boolean;
  /** Set for a signature that no page shows. */
  readonly invisible?: true;
  /** The sender's value. For a date, the value that a signature would write now. */
  readonly value?: string;
} & Pick<PreparedField, "help" | "format" | "options" | "option" | "group" | "id" | "showWhen" | "formula" | "choices">;

/** A field of another person that the rules of the signer's fields refer to, and its texts. */
export type KnownField = RuledField & { readonly label: string | null; readonly texts: readonly string[] };

/** A value that the sender wrote into the document and that nobody can change. */
export type SenderValue = Pick<ShownField, "kind" | "label" | "page" | "option"> & { readonly value: string };

/** A document of the same person and room. */
export type SessionDocument = {
  readonly n: number;
  /** Null until the person has passed the access step. */
  readonly title: string | null;
  readonly state: SigningState | "on_hold";
  readonly hasSigned: boolean;
};

/** An envelope, as the holder of a signer's link sees it. */
export type SigningView = {
  readonly state: SigningState;
  readonly environment: Environment;
  readonly orderCode: string;
  /** The document's name, as in the mail with the link; the firm's reference when there is no name. */
  readonly title: string;
  /** The firm's own reference. */
  readonly reference: string | null;
  readonly partnerId: string;
  readonly partnerName: string;
  /** The firm's contact address; null when it has not set one. */
  readonly partnerContact: string | null;
  readonly signer: {
    readonly n: number;
    readonly name: string;
    readonly email: string;
    /** The last digits of the phone number for codes; null for none. */
    readonly phoneEnding: string | null;
    readonly language: Language;
  };
  readonly signers: readonly { readonly n: number; readonly name: string; readonly signed: boolean }[];
  readonly expiresAt: Date;
  /** The firm's site that shows the page in a frame; null when the page is shown by itself. */
  readonly frame: string | null;
  /** The host of the device that is passed from signer to signer; null for the signer's own page. */
  readonly host: string | null;
  /**
   * Set for signing before a notary, on the notary's device or by audio and video: whether signing is allowed now. Null
   * for the signer's own page.
   */
  readonly room: { readonly maySign: boolean; readonly isRemote: boolean } | null;
  /**
   * The documents that the link opens, in order, and the number of the present one; null for a link of a single
   * document.
   */
  readonly session: { readonly n: number; readonly documents: readonly SessionDocument[] } | null;
  /** The step that identifies the signer in addition to the link; null for none. */
  readonly step: "mail_code" | "access_code" | "text_code" | null;
  /** Whether an entry link can be sent while the link is locked. */
  readonly canSendWayIn: boolean;
  /** The newest revision, which would be signed now. Null when nothing is left to read. */
  readonly document: {
    readonly revision: number;
    readonly bytes: number;
    readonly sha256: string;
    readonly pages: number;
    /** Whether the service added the last page, for signatures for which the document has no place. */
    readonly hasSignaturePage: boolean;
  } | null;
  /** Content of the document that people may overlook; empty when nothing is left to read. */
  readonly notices: readonly DocumentNotice[];
  readonly fields: readonly ShownField[];
  readonly known: readonly KnownField[];
  readonly senderValues: readonly SenderValue[];
  /** When this signer consented, and to which version of the text; null before that. */
  readonly consent: { readonly version: string; readonly at: Date } | null;
  readonly signedAt: Date | null;
  /** The copies that the signer may keep once everybody has signed. */
  readonly copies: readonly CopyKind[];
  /** The code of the public page of the envelope, once it is completed. */
  readonly verifyCode: string | null;
};

/** The requesting browser, for the trail. */
export type Client = { readonly ip: string; readonly userAgent: string };

/** Why a signer does not sign. */
export const declineKinds = ["declined", "paper", "withdrawn", "not_me"] as const;
export type DeclineKind = (typeof declineKinds)[number];
