import type { JsonObject } from "@signsealship/evidence/manifest";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import type { SignatureMark } from "../pdf/fields.ts";
import type { FitPicture, PictureFault } from "../pictures/pictures.ts";
import type { DocumentText } from "../reading/read-text.ts";
import type { Frame } from "./embedded.ts";
import type { SittingView } from "./sitting.ts";
import type { Client, CopyKind, DeclineKind, SigningView } from "./view.ts";

/**
 * The outcome of sending a code. `mailed`: a mail is queued, also for a test order, which sends no text messages.
 * `texted`: the text message was sent, or nobody knows whether it was. `away`: no text-message service is configured,
 * or it is unavailable for now. `refused`: the provider refused the message, usually because the phone number accepts
 * none.
 */
export type CodeOutcome = "mailed" | "texted" | "away" | "refused";

/**
 * The credentials of a signer's request: the token in the page's URL and, after the access step, the browser's session.
 * The token belongs to a mailed link, a frame, or a turn on a device or with a notary.
 */
export type Link = {
  readonly token: string;
  /** The document that the browser shows, by its number in the session. Set only for the link of a session. */
  readonly document?: number | null;
  readonly session: string | null;
  /** The language in which the browser shows the pages, which may differ from the language of the signer's mails. */
  readonly language?: Language | null;
};

/** The data that a signer sends with "Sign". */
export type SignRequest = {
  /**
   * The number of the revision that the signer read. If a newer revision exists, the page must show it before the
   * signer can sign.
   */
  readonly revision: number;
  readonly mark: SignatureMark;
  /**
   * The values of the signer's fields, by field name: typed texts, states of checkboxes and options, and calculated
   * numbers as the page showed them. The service fills in dates.
   */
  readonly values: ReadonlyMap<string, string>;
};

export type SignOutcome =
  /**
   * The signature is in the file. `completed` is true when everybody has signed and the document is sealed. In a
   * notary's presence, it is true only after the notary has signed, too.
   */
  | { readonly outcome: "signed"; readonly completed: boolean }
  /**
   * The document or the signer has changed since the page was loaded, or no prepared act is valid any longer. The page
   * must reload the document and ask the signer again.
   */
  | { readonly outcome: "again" };

/** An act without its signature. The signer's browser signs it with a key of its own. */
export type PreparedAct = {
  readonly outcome: "prepared";
  /** The bytes to append to the document that the signer read, with zeros in place of the signature value. */
  readonly tail: Uint8Array;
  /**
   * The offsets of the signature value within the tail, including its brackets. The signature covers all other bytes of
   * the tail and the document before it.
   */
  readonly contentsStart: number;
  readonly contentsEnd: number;
  /** DER of the SET OF signed attributes (RFC 5652, section 5.4), which contain the SHA-256 of the signed bytes. */
  readonly signedAttrs: Uint8Array;
  /** The act's record. The tail contains the SHA-256 of its canonical JSON. */
  readonly record: JsonObject;
};

/**
 * The ceremony of one signer. All methods that change something must be called from a POST.
 *
 * @throws ServiceError `not_found` for an invalid link: malformed, unknown, replaced or ended. `conflict` for a request
 * that does not fit the state of the signing
 */
export type Ceremony = {
  /** Returns the state of the signing that a link leads to. Changes nothing, even when a stranger opens the link. */
  readonly view: (link: Link) => Promise<SigningView>;
  /**
   * Returns the number of the document with which the link's session continues, even if only one document is left. Null
   * for a link that isn't a session's.
   */
  readonly next: (link: Link) => Promise<number | null>;
  /**
   * The newest revision, which is the one that would be signed.
   * @throws ServiceError `conflict` before the signer has passed the access step, and after the signing has ended
   */
  readonly document: (
    link: Link,
  ) => Promise<{ readonly file: StoredFile; readonly revision: number; readonly sha256: string }>;
  /**
   * The text of the newest revision, by page.
   * @throws ServiceError as `document`, and `conflict` when the text can't be read
   */
  readonly text: (link: Link) => Promise<DocumentText>;
  /**
   * Opens a document that the signer may download.
   * @throws ServiceError `conflict` when there is none of this kind, it was deleted, a notarized document replaced it,
   * or the signer may not download it yet
   */
  readonly copy: (link: Link, kind: CopyKind) => Promise<StoredFile>;
  /**
   * Records that the page was opened, once for each signer. Records nothing before the browser has passed the signer's
   * access step, and nothing after the envelope's end.
   */
  readonly opened: (link: Link, client: Client) => Promise<void>;
  /**
   * Finds the frame (a signing page within a firm's page) by the ticket in its URL; undefined for an unknown ticket.
   * Changes nothing.
   */
  readonly frameOfTicket: (ticket: string) => Promise<Frame | undefined>;
  /** Finds the frame whose signing pages have this session token, even for a day after the session has ended. */
  readonly frameOfSession: (session: string) => Promise<Frame | undefined>;
  /**
   * Exchanges a frame's ticket, which works only once, for the token of the frame's signing pages.
   * @returns the token of the frame's pages
   * @throws ServiceError `conflict`, `not_found`, `rate_limited`
   */
  readonly redeem: (ticket: string, client: Client) => Promise<{ session: string }>;
  /**
   * The view that a device shows between the turns of two signers; undefined when no sitting of this token is open. A
   * member of the firm hands the device to one signer after another. Changes nothing.
   */
  readonly sitting: (token: string) => Promise<SittingView | undefined>;
  /**
   * Begins the turn of signer number `n` on the device.
   * @param sitting the sitting (the signing of one document on the device); may be omitted if there is only one
   * @returns the token of the signer's pages
   * @throws ServiceError `conflict`, `not_found`, `rate_limited`
   */
  readonly beginTurn: (token: string, n: number, client: Client, sitting?: string) => Promise<{ session: string }>;
  /**
   * Begins the next document of the signer who is using the device.
   * @param after the sitting (the signing of one document on the device) that the signer's page shows. It must still be
   * the current one
   * @returns the token of the signer's pages
   * @throws ServiceError `conflict`, `not_found`, `rate_limited`
   */
  readonly nextTurn: (token: string, after: string, client: Client) => Promise<{ session: string }>;
  /** Ends the turn of the signer who is using the device. */
  readonly endTurn: (token: string) => Promise<void>;
  /**
   * Sends the signer a code of 6 digits. A mail also contains an entry link. While wrong codes have locked the link,
   * the digits don't work. Then only a mail's entry link works, or the long code that a text message contains.
   * @throws ServiceError `rate_limited` too soon after the last code, and after too many codes; `conflict` for a signer
   * with an access code whose link is not locked
   */
  readonly sendCode: (link: Link, client: Client) => Promise<CodeOutcome>;
  /**
   * Verifies a mailed or texted code, or an access code.
   * @returns the session for the link's cookie; null for a wrong or expired code
   * @throws ServiceError while wrong codes have locked the link: `rate_limited` if the envelope is completed, otherwise
   * `conflict`
   */
  readonly identify: (link: Link, code: string, client: Client) => Promise<{ session: string; expiresAt: Date } | null>;
  /**
   * Opens the signer's page by `entry`: the secret of the entry link that was mailed with the last code, or a texted
   * long code. Works even when wrong codes have locked the signer's own link. A signer with an access code can use
   * `entry` only during such a lock, and must enter the access code as well.
   * @returns the session for the link's cookie; null for an invalid or expired `entry`, for a wrong access code, and
   * after too many wrong access codes
   */
  readonly enter: (
    link: Link,
    entry: string,
    client: Client,
    accessCode?: string,
  ) => Promise<{ session: string; expiresAt: Date } | null>;
  /**
   * Records the signer's consent to the newest version of the consent text, and the language in which the page showed
   * the text.
   * @returns `changed` for a version that is neither the newest nor the one already consented to: the page must show
   * the newest one first
   */
  readonly consent: (
    link: Link,
    input: { version: string; language: Language },
    client: Client,
  ) => Promise<{ outcome: "consented" | "changed" }>;
  /** Reads a PNG or JPEG with the signer's signature, and scales it to fit the document. Stores nothing. */
  readonly picture: (link: Link, bytes: Buffer) => Promise<FitPicture | { readonly fault: PictureFault }>;
  /**
   * Signs with a key that the service creates for this act and then discards. Used for browsers without scripts or Web
   * Cryptography.
   */
  readonly sign: (link: Link, request: SignRequest, client: Client) => Promise<SignOutcome>;
  /**
   * Prepares an act for a key that the browser created. The act expires after ten minutes.
   * @param publicKey SubjectPublicKeyInfo, DER
   */
  readonly prepare: (
    link: Link,
    request: SignRequest & { readonly publicKey: Uint8Array },
    client: Client,
  ) => Promise<PreparedAct | { readonly outcome: "again" }>;
  /**
   * Completes the act that was prepared last.
   * @param signature ECDSA with SHA-256 over the act's signed attributes, as r and s
   */
  readonly complete: (link: Link, signature: Uint8Array) => Promise<SignOutcome>;
  /**
   * Ends the envelope: the order becomes EsignDeclined. The envelope of an order on hold does not end.
   * @param reason in the signer's words; may be empty
   * @param all true to end also the link's other documents that the signer has not signed. The kinds `withdrawn` and
   * `not_me` always end them.
   */
  readonly decline: (
    link: Link,
    input: { kind: DeclineKind; reason: string; all?: boolean },
    client: Client,
  ) => Promise<void>;
  /** Records the person whom the signer suggests as a replacement. The firm decides whether to replace the signer. */
  readonly propose: (link: Link, other: { name: string; email: string }, client: Client) => Promise<void>;
  /**
   * Sets the language of the signer's mails. A mailed link can't change it before the signer's access step or after the
   * envelope's end. In both cases only the browser stores the choice.
   */
  readonly setLanguage: (link: Link, language: Language) => Promise<void>;
};
