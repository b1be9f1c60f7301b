import type { Environment } from "../../../kernel/identity/identity.ts";
import type { DocumentNotice } from "../../../kernel/pdf/unseen/notice.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import type { RuledField } from "../../../orders/order/order.ts";
import type { FieldKind, PreparedField } from "../pdf/fields.ts";

/** The state that a link leads to now. */
export type SigningState =
  /** A code is asked for first: see `step`. */
  | "identify"
  /** Too many wrong codes: a way in that is sent, or the firm, opens it again. */
  | "locked"
  /** The turn of others comes first. */
  | "waiting"
  /** The signer may read, consent and sign. */
  | "ready"
  /** The signer has signed, others have not. */
  | "signed"
  /** Everybody has signed, and the document is sealed. */
  | "completed"
  | "declined"
  | "expired"
  | "voided";

/** The document that everybody signed, sealed, and the certificate of how it was signed. */
export const copyKinds = ["sealed", "custody_certificate"] as const;
export type CopyKind = (typeof copyKinds)[number];

/** Where a field of the signer is, as a reader shows the page: points from the left and the top of the upright page. */
export type ShownField = {
  readonly name: string;
  readonly kind: FieldKind | "mark";
  /** From 1. */
  readonly page: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** The partner's label; null for a kind that explains itself. */
  readonly label: string | null;
  readonly required: boolean;
  /** A signature that no page shows. */
  readonly invisible?: true;
  /** The sender's; of a date, the one that an act of now would write. */
  readonly value?: string;
} & Pick<PreparedField, "help" | "format" | "options" | "option" | "group" | "id" | "showWhen" | "formula" | "choices">;

/** A field of somebody else that the signer's own rules read, and the texts that it holds. */
export type KnownField = RuledField & { readonly label: string | null; readonly texts: readonly string[] };

/** A value that the sender wrote into the document, and nobody changes. */
export type SenderValue = Pick<ShownField, "kind" | "label" | "page" | "option"> & { readonly value: string };

/** A document of the same person in the same room. */
export type SessionDocument = {
  readonly n: number;
  /** Null before the person has passed the access step. */
  readonly title: string | null;
  readonly state: SigningState | "on_hold";
  readonly hasSigned: boolean;
};

/** An envelope as a signer sees it by their link. */
export type SigningView = {
  readonly state: SigningState;
  readonly environment: Environment;
  readonly orderCode: string;
  /** The document's name, as in the mail with the link; the firm's reference where it has none. */
  readonly title: string;
  /** The firm's own. */
  readonly reference: string | null;
  readonly partnerId: string;
  readonly partnerName: string;
  /** Where the firm is reached; null where it has not said. */
  readonly partnerContact: string | null;
  readonly signer: {
    readonly n: number;
    readonly name: string;
    readonly email: string;
    /** The last digits of the number that codes are texted to; null for none. */
    readonly phoneEnding: string | null;
    readonly language: Language;
  };
  readonly signers: readonly { readonly n: number; readonly name: string; readonly signed: boolean }[];
  readonly expiresAt: Date;
  /** The firm's site whose page shows it in a frame; null for a page of its own. */
  readonly frame: string | null;
  /** Whose device it is that goes from signer to signer; null for a page of its own. */
  readonly host: string | null;
  /** Before a notary, at the notary's device or by audio and video, and whether the signature is open; null for a page of its own. */
  readonly room: { readonly maySign: boolean; readonly isRemote: boolean } | null;
  /** The documents that the link opens, in their order, and the number of this one; null for a link of one document. */
  readonly session: { readonly n: number; readonly documents: readonly SessionDocument[] } | null;
  /** The step that the signer is identified by, besides the link; null for none. */
  readonly step: "mail_code" | "access_code" | "text_code" | null;
  /** Whether a way in can be sent while the link is locked. */
  readonly canSendWayIn: boolean;
  /** The bytes of the newest revision, which would be signed now. Null once nothing is to be read any more. */
  readonly document: {
    readonly revision: number;
    readonly bytes: number;
    readonly sha256: string;
    readonly pages: number;
    /** Whether the last page was added here, for signatures that had no place. */
    readonly hasSignaturePage: boolean;
  } | null;
  /** Content of the document that people may see otherwise than it is sealed; empty once there is nothing left to read. */
  readonly notices: readonly DocumentNotice[];
  readonly fields: readonly ShownField[];
  readonly known: readonly KnownField[];
  readonly senderValues: readonly SenderValue[];
  /** When the consent of this signer was given, and to which version of the text; null before. */
  readonly consent: { readonly version: string; readonly at: Date } | null;
  readonly signedAt: Date | null;
  /** The copies that the signer may keep, once everybody has signed. */
  readonly copies: readonly CopyKind[];
  /** The code of the public page of the envelope, once it is completed. */
  readonly verifyCode: string | null;
};

/** Whose request it is, for the trail. */
export type Client = { readonly ip: string; readonly userAgent: string };

/** Why a signer does not sign. */
export const declineKinds = ["declined", "paper", "withdrawn", "not_me"] as const;
export type DeclineKind = (typeof declineKinds)[number];
