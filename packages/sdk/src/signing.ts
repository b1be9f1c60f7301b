import { wireValue } from "./names.ts";
import type { Language, Signer, SignerAuth } from "./signer-fields.ts";
import { path, type Transport } from "./transport.ts";

/** A document of an order: an uploaded file, or a file made from it. */
export type OrderDocument = {
  documentId: string;
  kind:
    | "original"
    | "original_replaced"
    | "sealed"
    | "notarized"
    | "custody_certificate"
    | "fax_report"
    | "delivery_receipt"
    | "mail_receipt"
    | "fax_certificate";
  sha256: string;
  /** Present when the document was signed or notarized elsewhere and an operator recorded it; absent otherwise. */
  origin?: "operator";
  bytes: number;
  createdAt: string;
  /** The time at which the retention plan deleted the file; absent while it is stored. */
  deletedAt?: string;
};

export type OrderDocuments = { documents: OrderDocument[]; requestId: string };

export type OrderSignerState = {
  /** The signer's number: the position in `signers`, counted from 1. */
  n: number;
  name: string;
  email: string;
  language: Language;
  routing: number;
  auth: SignerAuth;
  /** `pending` until it is the signer's turn; `locked` after too many wrong codes, or too many mailed codes. */
  status: "pending" | "sent" | "viewed" | "signed" | "declined" | "locked";
  /** Present when an operator recorded a document that was signed elsewhere instead of here; absent otherwise. */
  takenIn?: true;
  /** Present when this person ended the signing to sign on paper. `status` is then `declined`. */
  wantsPaper?: true;
  issuedAt: string | null;
  openedAt: string | null;
  signedAt: string | null;
  /** The person who should sign instead, according to the signer; null when the signer named nobody. */
  proposal: { name: string; email: string } | null;
  /**
   * The address of the signing page for a test order. Null for a live order, before the link is issued, and once the
   * link opens no document.
   */
  signingUrl: string | null;
};

export type OrderSigners = {
  signers: OrderSignerState[];
  /** The signing of the order's document; null until the order waits for signatures. */
  envelope: {
    verifyCode: string;
    expiresAt: string;
    outcome: "Completed" | "Declined" | "Expired" | "Voided" | null;
    endedAt: string | null;
  } | null;
  requestId: string;
};

/**
 * A link through which a signer downloads the finished documents of an order. This type never contains the link's URL.
 */
export type CopyLink = {
  linkId: string;
  /** The signer's number, counted from 1. */
  n: number;
  name: string;
  email: string;
  issuedAt: string;
};

export type CopyLinks = { links: CopyLink[]; requestId: string };

/**
 * A notary's request to notarize an order in person, in ink, although online notarization was bought. Also contains
 * your answer.
 */
export type OrderInPerson = {
  /** The latest request; null when there was none. */
  inPerson: {
    state: "requested" | "agreed" | "declined";
    /** The notary's reason for meeting in person. */
    reason: string;
    requestedAt: string;
    decidedAt: string | null;
    /** The technology fee in US cents. If the firm agrees to meet in person, a refund of this fee is requested. */
    technologyFeeCents: number;
  } | null;
  requestId: string;
};

export type InPersonAnswer = {
  state: "agreed" | "declined";
  /** The refund that was requested, in US cents; null when none was. */
  refundCents: number | null;
  requestId: string;
};

/** The person who signs instead. Language and identification stay unchanged unless you send them. */
export type SignerReplacement = Pick<Signer, "name" | "email" | "language" | "auth" | "phone" | "accessCode">;

/**
 * The verification of an envelope: how a document was signed, recomputed from the stored evidence. Names and email
 * addresses are masked.
 */
export type EnvelopeVerification = {
  verifyCode: string;
  environment: "live" | "test";
  status: "Open" | "Completed" | "Declined" | "Expired" | "Voided";
  partnerName: string;
  createdAt: string;
  endedAt: string | null;
  signers: { n: number; name: string; email: string; routingOrder: number; signedAt: string | null }[];
  document: { originalSha256: string; sealedSha256: string; bytes: number } | null;
  /**
   * The revisions of the file. Empty until the envelope is completed. Also empty if the document was signed in a
   * notary's presence, or if the records are unreadable.
   */
  revisions: {
    number: number;
    kind: "original" | "prepared" | "signed" | "sealed";
    signer: number | null;
    bytes: number;
    sha256: string;
  }[];
  custodyCertSha256: string | null;
  certificateDeletedAtUtc?: string;
  trail: { records: number; lastSha256: string | null };
  claims: { name: string; state: "holds" | "fails" | "unchecked"; why: string }[];
  /** True when no claim fails. Some may be unchecked. */
  chainOk: boolean;
};

/** One of your sites that may show the signing page in a frame. */
export type EmbedOrigin = { originId: string; origin: string; createdAt: string };

export type EmbedOrigins = { origins: EmbedOrigin[]; requestId: string };

/** The URL of a signing page to show in a frame. It works once, within five minutes. */
export type EmbeddedSigner = { url: string; expiresAt: string; requestId: string };

export const embedOriginsOf = ({ json }: Transport) => ({
  list: (): Promise<EmbedOrigins> => json("GET", "/api/partner/embed-origins"),

  /**
   * Registers one of your sites.
   * @param origin scheme, host and port, as `https://app.example.com`
   */
  add: (origin: string): Promise<EmbedOrigins> => json("POST", "/api/partner/embed-origins", { body: { origin } }),

  remove: (originId: string): Promise<EmbedOrigins> => json("DELETE", path`/api/partner/embed-origins/${originId}`),
});

export const signingOf = (transport: Transport) => ({
  ...orderSigningOf(transport),
  ...signedEnvelopesOf(transport),
});

const orderSigningOf = ({ json, bytes }: Transport) => ({
  /** Lists the documents of an order, oldest first. */
  documents: (orderCode: string): Promise<OrderDocuments> =>
    json("GET", path`/api/partner/orders/${orderCode}/documents`),

  /** Returns the bytes of one document of an order. */
  document: (orderCode: string, documentId: string): Promise<Uint8Array> =>
    bytes(path`/api/partner/orders/${orderCode}/documents/${documentId}`),

  /**
   * Returns the proof that the transparency log contains this document, which must have been sealed here. Refused with
   * status 503 in the first seconds after the seal.
   */
  documentLogProof: (orderCode: string, documentId: string): Promise<Uint8Array> =>
    bytes(path`/api/partner/orders/${orderCode}/documents/${documentId}/tlog-proof`),

  /**
   * The `.ots` proof of the log's hourly root, which covers this document; refused with status 409 until the
   * OpenTimestamps calendars have that root.
   */
  documentRootOts: (orderCode: string, documentId: string): Promise<Uint8Array> =>
    bytes(path`/api/partner/orders/${orderCode}/documents/${documentId}/ots`),

  signers: (orderCode: string): Promise<OrderSigners> => json("GET", path`/api/partner/orders/${orderCode}/signers`),

  /** Mails a signer their link again, at most once an hour. */
  remindSigner: (orderCode: string, n: number): Promise<OrderSigners> =>
    json("POST", path`/api/partner/orders/${orderCode}/signers/${String(n)}/remind`),

  /** Replaces a signer by another person. The previous signer's link stops working at once. */
  replaceSigner: (orderCode: string, n: number, signer: SignerReplacement): Promise<OrderSigners> =>
    json("POST", path`/api/partner/orders/${orderCode}/signers/${String(n)}/replace`, { body: wireValue(signer) }),

  /** Unlocks a signer after too many wrong or requested codes; the signer gets a new link. */
  unlockSigner: (orderCode: string, n: number): Promise<OrderSigners> =>
    json("POST", path`/api/partner/orders/${orderCode}/signers/${String(n)}/unlock`),

  /** Lists the links through which signers download finished documents; empty until a first signing is complete. */
  copyLinks: (orderCode: string): Promise<CopyLinks> => json("GET", path`/api/partner/orders/${orderCode}/copy-links`),

  /**
   * Ends a signer's download link at once, for example after it was mailed to a wrong address. If the link also opens
   * documents of other orders, it ends for them too.
   */
  endCopyLink: (orderCode: string, linkId: string): Promise<CopyLinks> =>
    json("DELETE", path`/api/partner/orders/${orderCode}/copy-links/${linkId}`),

  /** Returns a notary's request to notarize in person, in ink on paper, although online notarization was bought. */
  inPerson: (orderCode: string): Promise<OrderInPerson> =>
    json("GET", path`/api/partner/orders/${orderCode}/in-person`),

  /**
   * Answers the notary's request; you can answer only once. If you agree, a refund of the technology fee is requested.
   */
  answerInPerson: (orderCode: string, answer: { agrees: boolean }): Promise<InPersonAnswer> =>
    json("POST", path`/api/partner/orders/${orderCode}/in-person`, { body: wireValue(answer) }),

  /**
   * Returns a URL that shows a signer's signing page in a frame of one of your registered sites; see `mountSigning`.
   */
  embedSigner: (orderCode: string, n: number, origin: string): Promise<EmbeddedSigner> =>
    json("POST", path`/api/partner/orders/${orderCode}/signers/${String(n)}/embed`, { body: { origin } }),
});

const signedEnvelopesOf = ({ json, bytes }: Transport) => ({
  /** Returns how a document was signed. Needs no key: anyone who has the envelope's verify code may call this. */
  verifyEnvelope: (verifyCode: string): Promise<EnvelopeVerification> =>
    json("GET", path`/api/verify/envelope/${verifyCode}`),

  /**
   * Returns the proof that the transparency log contains the sealed document. Refused with status 503 in the first
   * seconds after the seal.
   */
  envelopeLogProof: (verifyCode: string): Promise<Uint8Array> =>
    bytes(path`/api/verify/envelope/${verifyCode}/tlog-proof`),

  /**
   * Returns the proof that the transparency log contains the custody certificate. Refused with status 503 in the first
   * seconds after its seal.
   */
  custodyLogProof: (verifyCode: string): Promise<Uint8Array> =>
    bytes(path`/api/verify/envelope/${verifyCode}/custody/tlog-proof`),

  /**
   * The `.ots` proof of the log's hourly root, which covers the sealed document's entry. Refused with status 409 until
   * the OpenTimestamps calendars have that root.
   */
  envelopeRootOts: (verifyCode: string): Promise<Uint8Array> => bytes(path`/api/verify/envelope/${verifyCode}/ots`),

  /**
   * Returns the `.ots` proof of the log's hourly root that covers the custody certificate. Refused with status 409
   * until the OpenTimestamps calendars have that root.
   */
  custodyRootOts: (verifyCode: string): Promise<Uint8Array> =>
    bytes(path`/api/verify/envelope/${verifyCode}/custody/ots`),
});
