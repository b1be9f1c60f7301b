import type { Environment } from "../../../kernel/identity/identity.ts";
import type { DocumentNotice } from "../../../kernel/pdf/unseen/notice.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import type { FieldKind, PreparedField, ReferencedField } from "../pdf/fields.ts";

/** The documents that one person signs on a shared device. */
export type DeviceDocuments = {
  /** The sitting of the shown document. A sitting is the signing of one document on the device. */
  readonly sitting: string;
  /** The position of the shown document among the person's documents, counted from 1. */
  readonly n: number;
  readonly of: number;
  /** How many of these documents the person has signed. */
  readonly signed: number;
  /** The title of the next document that the person can sign; null when there is none. */
  readonly next: string | null;
};

/** The state of the signing for the holder of a link. */
export type SigningState =
  /** The signer must enter a code first; the member `step` names its kind. */
  | "identify"
  /**
   * Too many wrong codes were entered. The entry link that is sent with a code still works, and the firm can unlock the
   * signer's link.
   */
  | "locked"
  /** It is another signer's turn, or the order is on hold. */
  | "waiting"
  /** The signer may read the document, consent and sign. */
  | "ready"
  /** The signer has signed, but the envelope is not completed yet. */
  | "signed"
  /**
   * Everybody has signed, and the document is sealed. After signing in a notary's presence: the notary has signed it,
   * too.
   */
  | "completed"
  | "declined"
  | "expired"
  | "voided";

/**
 * The kinds of documents that signers can download: the document that a notary completed after them, the sealed
 * document that everybody signed, and the custody certificate about its signing.
 */
export const copyKinds = ["notarized", "sealed", "custody_certificate"] as const;
export type CopyKind = (typeof copyKinds)[number];

/**
 * A field of the signer. Its position is in points from the upper left corner of the page, as PDF viewers show the
 * page.
 */
export type ShownField = {
  readonly name: string;
  readonly kind: FieldKind | "mark";
  /** The number of the page, counted from 1. */
  readonly page: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** The label that the partner gave the field; null for a field without one, and for an invisible signature. */
  readonly label: string | null;
  readonly required: boolean;
  /** Set for a signature that appears on no page. */
  readonly invisible?: true;
  /** The sender's value. For a date, the value that would be written if the signer signed now. */
  readonly value?: string;
} & Pick<PreparedField, "help" | "format" | "options" | "option" | "group" | "id" | "showWhen" | "formula" | "choices">;

/** A value that the sender wrote into the document, read-only for the signer. */
export type SenderValue = Pick<ShownField, "kind" | "label" | "page" | "option"> & { readonly value: string };

/** One document of a session. A session groups the documents that one person signs in one closing room. */
export type SessionDocument = {
  readonly n: number;
  readonly orderCode: string;
  /** The document's name; null until the person has passed the access step. */
  readonly title: string | null;
  readonly state: SigningState | "on_hold";
  readonly hasSigned: boolean;
};

/** An envelope, as the holder of a signer's link sees it. */
export type SigningView = {
  readonly state: SigningState;
  /** True if the sandbox completed the signing, so that nobody's signature is in the document. */
  readonly isSimulated: boolean;
  readonly environment: Environment;
  readonly orderCode: string;
  /**
   * The document's name, usually as in the mail with the link. A document without a name has the firm's reference as
   * its title or, without a reference, the document's type.
   */
  readonly title: string;
  /** The firm's own reference for the order; null without one. */
  readonly reference: string | null;
  readonly partnerId: string;
  readonly partnerName: string;
  /** The firm's contact email address; null when it has not set one. */
  readonly partnerContact: string | null;
  readonly signer: {
    readonly n: number;
    readonly name: string;
    readonly email: string;
    /**
     * The email address to which mails and codes go. It differs from `email` if the address was corrected after the
     * signature.
     */
    readonly mailedTo: string;
    /** The last digits of the phone number to which codes are sent; null without a number. */
    readonly phoneEnding: string | null;
    readonly language: Language;
  };
  readonly signers: readonly { readonly n: number; readonly name: string; readonly signed: boolean }[];
  readonly expiresAt: Date;
  /** The firm's site that shows the page in a frame; null when the page is shown by itself. */
  readonly frame: string | null;
  /** The email address of the member who handed out the device; null if the page isn't on such a device. */
  readonly host: string | null;
  /** The documents that the person signs on the device of `host`; null without a device, and for only one document. */
  readonly device: DeviceDocuments | null;
  /**
   * Set when the signer signs in a notary's presence, on the notary's device or by audio and video. `maySign` is true
   * while the notary allows this signature. Null for any other link.
   */
  readonly room: { readonly maySign: boolean; readonly isRemote: boolean } | null;
  /**
   * The documents that a session's link opens, in order, and the number `n` of the one that is shown. Null for any
   * other link.
   */
  readonly session: { readonly n: number; readonly documents: readonly SessionDocument[] } | null;
  /** The step that identifies the signer in addition to the link; null for none. */
  readonly step: "mail_code" | "access_code" | "text_code" | null;
  /** True if a signer whose link is locked can still get an entry link. */
  readonly canSendWayIn: boolean;
  /**
   * The newest revision, which is the one that would be signed. Null in all states but `ready`, `waiting` and `signed`.
   */
  readonly document: {
    readonly revision: number;
    readonly bytes: number;
    readonly sha256: string;
    readonly pages: number;
    /** True if the service added a last page, for signatures that have no place in the document. */
    readonly hasSignaturePage: boolean;
  } | null;
  /**
   * Warnings about parts of the document that people may overlook, such as hidden text; empty when there is no document
   * to read.
   */
  readonly notices: readonly DocumentNotice[];
  readonly fields: readonly ShownField[];
  readonly referenced: readonly ReferencedField[];
  readonly senderValues: readonly SenderValue[];
  /**
   * The version and the time of the consent that applies to this document. It was given for this document or for the
   * whole session. Null before the signer has consented.
   */
  readonly consent: { readonly version: string; readonly at: Date } | null;
  readonly signedAt: Date | null;
  /** True if this signer ended the signing in order to sign on paper. */
  readonly askedForPaper: boolean;
  /** True if the signing ended without all signatures, and the document was then signed elsewhere, such as on paper. */
  readonly signedElsewhere: boolean;
  /**
   * The copies that the signer may keep once everybody has signed. `isSimulated` is true for a notarized document whose
   * notarization the sandbox simulated.
   */
  readonly copies: readonly { kind: CopyKind; isSimulated: boolean }[];
  /**
   * The verify code, which opens the envelope's public page. Null until the envelope is completed, and before the
   * access step.
   */
  readonly verifyCode: string | null;
};

/** The IP address and the user agent of the requesting browser, for the trail. */
export type Client = { readonly ip: string; readonly userAgent: string };

/** The reasons for which a signer can decline. */
export const declineKinds = ["declined", "paper", "withdrawn", "not_me"] as const;
export type DeclineKind = (typeof declineKinds)[number];
