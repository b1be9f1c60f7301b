import type { JsonObject } from "@signsealship/evidence/manifest";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import type { SignatureMark } from "../pdf/fields.ts";
import type { FitPicture, PictureFault } from "../pictures/pictures.ts";
import type { DocumentText } from "../reading/read-text.ts";
import type { Frame } from "./embedded.ts";
import type { SittingView } from "./sitting.ts";
import type { Client, CopyKind, DeclineKind, SigningView } from "./view.ts";

/** Where a code went; `away` and `refused`: no text message was sent, for now or to that number at all. */
export type CodeOutcome = "mailed" | "texted" | "away" | "refused";

/** A signer's link: its token, and the session that a code gave, when one was asked for. */
export type Link = {
  readonly token: string;
  /** Which of the documents, from 1, where the link opens several. */
  readonly document?: number | null;
  readonly session: string | null;
  /** The language in which the browser shows the pages, whatever the signer's mails are written in. */
  readonly language?: Language | null;
};

/** The values that a signer sends with "Sign". */
export type SignRequest = {
  /** The revision that was read: another one is signed only after it was shown. */
  readonly revision: number;
  readonly mark: SignatureMark;
  /** The texts that the signer wrote into fields, by the field's name; dates are the service's. */
  readonly values: ReadonlyMap<string, string>;
};

export type SignOutcome =
  /** It is in the file. `completed` when it was the last one, and the document is sealed. */
  | { readonly outcome: "signed"; readonly completed: boolean }
  /** Another signer was faster: the page loads the document again, and asks again. */
  | { readonly outcome: "again" };

/** An act that waits for the signature of a key in the signer's browser. */
export type PreparedAct = {
  readonly outcome: "prepared";
  /** The bytes to be appended to the document that was read; zeros stand where the signature's value goes. */
  readonly tail: Uint8Array;
  /** Where in the tail that value goes, with its brackets: all else, with the document before it, is signed. */
  readonly contentsStart: number;
  readonly contentsEnd: number;
  /** DER of the SET OF signed attributes (RFC 5652, section 5.4): they hold the SHA-256 of what is signed. */
  readonly signedAttrs: Uint8Array;
  /** The act's record; the SHA-256 of its canonical JSON is in the tail. */
  readonly record: JsonObject;
};

/**
 * The ceremony as one signer goes through it. Every method but `view` and `document` is for a POST; a bad link
 * (malformed, unknown, replaced) is a ServiceError `not_found`, and a request that does not fit the state is a `conflict`.
 */
export type Ceremony = {
  /** Changes nothing, for any caller. */
  readonly view: (link: Link) => Promise<SigningView>;
  /** Of a link that opens several documents: the number of the one to go on with. Null for a link of one document. */
  readonly next: (link: Link) => Promise<number | null>;
  /** The newest revision: what would be signed. @throws ServiceError `conflict` before the signer is identified */
  readonly document: (
    link: Link,
  ) => Promise<{ readonly file: StoredFile; readonly revision: number; readonly sha256: string }>;
  /** The text of that revision, page for page. @throws ServiceError `conflict` where it can't be had */
  readonly text: (link: Link) => Promise<DocumentText>;
  /** A document that the signer may keep. @throws ServiceError `conflict` when there is none, or none any more */
  readonly copy: (link: Link, kind: CopyKind) => Promise<StoredFile>;
  /** The page was shown to somebody with a browser who has passed the signer's step; before it nothing is recorded. Once is enough. */
  readonly opened: (link: Link, client: Client) => Promise<void>;
  /** The frame that a firm's address opens; undefined for an address that no firm was given. Changes nothing. */
  readonly frameOfTicket: (ticket: string) => Promise<Frame | undefined>;
  /** Where a session of a frame may be shown, also when it has ended. */
  readonly frameOfSession: (session: string) => Promise<Frame | undefined>;
  /** Begins the signing in a frame, once. @returns the token of its pages @throws ServiceError `conflict`, `not_found` */
  readonly redeem: (ticket: string, client: Client) => Promise<{ session: string }>;
  /** A member's device between two signers; undefined for a token that opens nothing. Changes nothing. */
  readonly sitting: (token: string) => Promise<SittingView | undefined>;
  /** Gives a signer the device. @returns the token of their pages @throws ServiceError `conflict`, `not_found` */
  readonly beginTurn: (token: string, n: number, client: Client) => Promise<{ session: string }>;
  /** Ends the turn of the signer who has the device. */
  readonly takeTurn: (token: string) => Promise<void>;
  /** Sends the signer a code of 6 digits, by mail or by text message. @throws ServiceError `rate_limited` too soon after the last one */
  readonly sendCode: (link: Link, client: Client) => Promise<CodeOutcome>;
  /** Tries the mailed code or the access code. @returns the session for the link's cookie; null for a wrong one */
  readonly identify: (link: Link, code: string, client: Client) => Promise<{ session: string; expiresAt: Date } | null>;
  /** Opens the link by the way in that was sent with the last code, also when wrong codes have locked it. @returns as `identify` */
  readonly enter: (
    link: Link,
    entry: string,
    client: Client,
    accessCode?: string,
  ) => Promise<{ session: string; expiresAt: Date } | null>;
  /** Records the consent to the text of this version, shown in this language. */
  readonly consent: (link: Link, given: { version: string; language: Language }, client: Client) => Promise<void>;
  /** Reads a PNG or JPEG with the signer's signature, and makes it fit into the document: nothing of it is kept. */
  readonly picture: (link: Link, bytes: Buffer) => Promise<FitPicture | { readonly fault: PictureFault }>;
  /** Signs with a key that the service makes for this act, and forgets: for a browser without a script or Web Cryptography. */
  readonly sign: (link: Link, request: SignRequest, client: Client) => Promise<SignOutcome>;
  /** Prepares the act for a key that the browser made: `publicKey` is its SubjectPublicKeyInfo, DER. Kept ten minutes. */
  readonly prepare: (
    link: Link,
    request: SignRequest & { readonly publicKey: Uint8Array },
    client: Client,
  ) => Promise<PreparedAct | { readonly outcome: "again" }>;
  /** Completes the act that was prepared last. @param signature ECDSA over its signed attributes with SHA-256, r and s */
  readonly complete: (link: Link, signature: Uint8Array) => Promise<SignOutcome>;
  /**
   * Ends the envelope: the order becomes EsignDeclined. @param reason in the signer's words; may be empty
   * @param all whether the other documents of the link that the signer has not signed end, too
   */
  readonly decline: (
    link: Link,
    given: { kind: DeclineKind; reason: string; all?: boolean },
    client: Client,
  ) => Promise<void>;
  /** Says who should sign in the signer's place: the firm decides. */
  readonly propose: (link: Link, other: { name: string; email: string }, client: Client) => Promise<void>;
  /** For the signer's mails. Ignored before the signer's step, and after the end: the browser keeps the language then. */
  readonly setLanguage: (link: Link, language: Language) => Promise<void>;
};
