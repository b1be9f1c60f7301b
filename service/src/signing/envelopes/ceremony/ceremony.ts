import type { JsonObject } from "@signsealship/evidence/manifest";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import type { SignatureMark } from "../pdf/fields.ts";
import type { FitPicture, PictureFault } from "../pictures/pictures.ts";
import type { DocumentText } from "../reading/read-text.ts";
import type { Frame } from "./embedded.ts";
import type { SittingView } from "./sitting.ts";
import type { Client, CopyKind, DeclineKind, SigningView } from "./view.ts";

/** How a code was sent. `away`: no text message could be sent for now. `refused`: the number accepts none. */
export type CodeOutcome = "mailed" | "texted" | "away" | "refused";

/** The token of a signer's link and, after a code was entered, the session. */
export type Link = {
  readonly token: string;
  /** The number of the document, counted from 1, when the link opens several. */
  readonly document?: number | null;
  readonly session: string | null;
  /** The language in which the browser shows the pages, which may differ from that of the signer's mails. */
  readonly language?: Language | null;
};

/** The data that a signer sends with "Sign". */
export type SignRequest = {
  /** The number of the revision that the signer read. A newer one is not signed before it has been shown. */
  readonly revision: number;
  readonly mark: SignatureMark;
  /** The texts that the signer wrote into fields, by field name. The service fills in dates. */
  readonly values: ReadonlyMap<string, string>;
};

export type SignOutcome =
  /** The signature is in the file. `completed`: it was the last one, and the document is sealed. */
  | { readonly outcome: "signed"; readonly completed: boolean }
  /** Another signer was faster, so the page must load the document again and ask again. */
  | { readonly outcome: "again" };

/** An act that waits for a signature with a key in the signer's browser. */
export type PreparedAct = {
  readonly outcome: "prepared";
  /** The bytes to append to the document that was read, with zeros in place of the signature value. */
  readonly tail: Uint8Array;
  /**
   * The offsets of the signature value in the tail, including its brackets. Everything else, with the document before
   * it, is signed.
   */
  readonly contentsStart: number;
  readonly contentsEnd: number;
  /** DER of the SET OF signed attributes (RFC 5652, section 5.4), which contain the SHA-256 of the signed bytes. */
  readonly signedAttrs: Uint8Array;
  /** The act's record. The SHA-256 of its canonical JSON is in the tail. */
  readonly record: JsonObject;
};

/**
 * The ceremony of one signer. All methods except `view` and `document` must be called from a POST. A bad link
 * (malformed, unknown, replaced) gives a ServiceError `not_found`; a request that does not fit the state gives a
 * `conflict`.
 */
export type Ceremony = {
  /** The state that a link leads to. Reading it changes nothing, even for a stranger with the link. */
  readonly view: (link: Link) => Promise<SigningView>;
  /**
   * For a link that opens several documents: the number of the document to continue with. Null for a link of one
   * document.
   */
  readonly next: (link: Link) => Promise<number | null>;
  /** The newest revision, which would be signed. @throws ServiceError `conflict` before the signer is identified */
  readonly document: (
    link: Link,
  ) => Promise<{ readonly file: StoredFile; readonly revision: number; readonly sha256: string }>;
  /** The text of the newest revision, by page. @throws ServiceError `conflict` when it can't be read */
  readonly text: (link: Link) => Promise<DocumentText>;
  /** A document for the signer to keep. @throws ServiceError `conflict` when there is none, or it was deleted */
  readonly copy: (link: Link, kind: CopyKind) => Promise<StoredFile>;
  /**
   * Records that the page was shown in a browser that has passed the signer's access step. Before that step nothing is
   * recorded. Calling it once is enough.
   */
  readonly opened: (link: Link, client: Client) => Promise<void>;
  /** The frame that a URL for a firm's page opens; undefined for an unknown URL. Changes nothing. */
  readonly frameOfTicket: (ticket: string) => Promise<Frame | undefined>;
  /** The frame in which a session may be shown, even after it has ended. */
  readonly frameOfSession: (session: string) => Promise<Frame | undefined>;
  /**
   * Begins the signing in a frame; works only once. @returns the token of its pages @throws ServiceError `conflict`,
   * `not_found`
   */
  readonly redeem: (ticket: string, client: Client) => Promise<{ session: string }>;
  /** A member's device between two signers; undefined for an invalid token. Changes nothing. */
  readonly sitting: (token: string) => Promise<SittingView | undefined>;
  /**
   * Begins a signer's turn on the device. @returns the token of the signer's pages @throws ServiceError `conflict`,
   * `not_found`
   */
  readonly beginTurn: (token: string, n: number, client: Client) => Promise<{ session: string }>;
  /** Ends the turn of the signer who is using the device. */
  readonly takeTurn: (token: string) => Promise<void>;
  /**
   * Sends the signer a code of 6 digits, by mail or text message. @throws ServiceError `rate_limited` when it is too
   * soon after the last one
   */
  readonly sendCode: (link: Link, client: Client) => Promise<CodeOutcome>;
  /** Tries the mailed code or the access code. @returns the session for the link's cookie; null for a wrong code */
  readonly identify: (link: Link, code: string, client: Client) => Promise<{ session: string; expiresAt: Date } | null>;
  /**
   * Opens the link by the entry link that was sent with the last code, even when wrong codes have locked it. @returns
   * as `identify`
   */
  readonly enter: (
    link: Link,
    entry: string,
    client: Client,
    accessCode?: string,
  ) => Promise<{ session: string; expiresAt: Date } | null>;
  /** Records the consent to the text of this version, as shown in this language. */
  readonly consent: (link: Link, given: { version: string; language: Language }, client: Client) => Promise<void>;
  /** Reads a PNG or JPEG with the signer's signature, and scales it to fit the document. Stores nothing. */
  readonly picture: (link: Link, bytes: Buffer) => Promise<FitPicture | { readonly fault: PictureFault }>;
  /**
   * Signs with a key that the service makes for this act and then discards, for a browser without scripts or Web
   * Cryptography.
   */
  readonly sign: (link: Link, request: SignRequest, client: Client) => Promise<SignOutcome>;
  /**
   * Prepares an act for a key that the browser made. `publicKey` is its SubjectPublicKeyInfo, DER. The act is kept for
   * ten minutes.
   */
  readonly prepare: (
    link: Link,
    request: SignRequest & { readonly publicKey: Uint8Array },
    client: Client,
  ) => Promise<PreparedAct | { readonly outcome: "again" }>;
  /** Completes the act that was prepared last. @param signature ECDSA over its signed attributes with SHA-256, r and s */
  readonly complete: (link: Link, signature: Uint8Array) => Promise<SignOutcome>;
  /**
   * Ends the envelope: the order becomes EsignDeclined. @param reason in the signer's words; may be empty
   * @param all also ends the other documents of the link that the signer has not signed
   */
  readonly decline: (
    link: Link,
    given: { kind: DeclineKind; reason: string; all?: boolean },
    client: Client,
  ) => Promise<void>;
  /** Records who should sign in the signer's place; the firm decides. */
  readonly propose: (link: Link, other: { name: string; email: string }, client: Client) => Promise<void>;
  /**
   * Sets the language of the signer's mails. Ignored before the signer's access step and after the end; only the
   * browser then remembers the language.
   */
  readonly setLanguage: (link: Link, language: Language) => Promise<void>;
};
