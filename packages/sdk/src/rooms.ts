import { allOf } from "./pages.ts";
import type { LogNote } from "./passports.ts";
import { newIdempotencyKey, path, type Transport, type WriteOptions } from "./transport.ts";

export type CreatedRoom = {
  roomCode: string;
  roomUrl: string;
  name: string;
  reference: string | null;
  /** The day on which the closing is due; absent without one. */
  closesOn?: string;
  status: string;
  createdAt: string;
};

export type RoomSummary = {
  roomCode: string;
  name: string;
  reference: string | null;
  /** The day on which the closing is due; absent without one. */
  closesOn?: string;
  status: string;
  orderCount: number;
  /**
   * True if the service seals the closing certificate once every order has ended and at least one is completed; absent
   * if it does not.
   */
  sealWhenDone?: boolean;
  createdAt: string;
  updatedAt: string;
};

export type StatusGroup =
  | "signing"
  | "signed"
  | "notarizing"
  | "notarized"
  | "shipping"
  | "shipped"
  | "delivered"
  | "complete"
  | "attention"
  | "open";

export type OrderCard = {
  orderCode: string;
  label: string | null;
  /** The order's status. The list of statuses can grow, so base your logic on `statusGroup`. */
  status: string;
  statusGroup: StatusGroup;
  services: { sign: boolean; notarize: boolean; ship: boolean; fax: boolean };
  signers: { name: string | null; email: string; routingOrder: number; signed: boolean }[];
  evidenceBadge: "sealed" | "recorded" | "none";
  /** True if an operator recorded a document that was signed or notarized elsewhere. Absent otherwise. */
  takenIn?: true;
  /**
   * True if the sandbox completed the signing of this test order. The document then contains nobody's signature. Absent
   * otherwise.
   */
  simulated?: true;
  verifyCode: string | null;
  trackingNumber: string | null;
  carrier: string | null;
  attachedAt: string;
};

export type RoomView = {
  roomCode: string;
  name: string;
  reference: string | null;
  status: string;
  partnerName: string;
  branding: { brandName: string | null; accentColor: string | null; logoUrl: string | null } | null;
  progress: { total: number; signed: number; sealed: number; delivered: number };
  orders: OrderCard[];
  activity: {
    orderCode: string;
    action: string;
    fromStatus: string | null;
    toStatus: string | null;
    occurredAt: string;
  }[];
  passport: { version: number; verifyCode: string; createdAt: string } | null;
  participants: { name: string; email: string; role: string }[];
  createdAt: string;
  updatedAt: string;
};

export type Participant = { participantId: string; name: string; email: string; role: string; createdAt: string };

export type ClosingPassport = {
  version: number;
  verifyCode: string;
  verifyUrl: string;
  manifestSha256: string;
  prevManifestSha256: string | null;
  sealedSha256: string;
  createdAt: string;
  log: LogNote;
};

/** The manifest of one version of a closing passport. Its hash is computed over the canonical form. */
export type ClosingManifest = {
  coverage: { covers: string[]; doesNotCover: string[] };
  /** One entry per attached order, in the order of their codes. Artifacts that don't exist have no hash. */
  documents: {
    orderCode: string;
    label: string | null;
    originalSha256?: string;
    sealedSha256?: string;
    envelopeVerifyCode?: string;
    custodyCertSha256?: string;
    notarizedSha256?: string;
    statusAtSnapshot: { basis: "platform_attestation"; note: string; value: string };
  }[];
  passport: {
    roomCode: string;
    roomName: string;
    reference: string | null;
    version: number;
    prevManifestSha256: string | null;
    generatedAtUtc: string;
  };
};

export type ClosingVerification = Omit<ClosingPassport, "verifyCode" | "verifyUrl" | "log"> & {
  /** Null when the stored bytes are damaged and no longer JSON. `chainOk` is then false. */
  manifest: ClosingManifest | null;
  chainOk: boolean;
  branding: RoomView["branding"];
  environment: "live" | "test";
  /** The time at which the retention plan deleted the certificate; absent while it is stored. */
  certificateDeletedAtUtc?: string;
  downloadUrl: string;
};

export type RoomCheckout = {
  checkoutUrl: string;
  /** The orders that the checkout pays for. Amounts are in US cents. */
  orders: { orderCode: string; totalCents: number }[];
  totalCents: number;
  /**
   * The orders that the checkout pays: those whose payer is the client (`client`), or those whose payer is your firm
   * (`firm`).
   */
  payBy: "client" | "firm";
  requestId: string;
};

export type RoomCharge = {
  /** The id of the payment. One payment covers all `orders`. */
  paymentId: string;
  /** The orders that are charged. `orders.get` returns the state of each order's charge. */
  orders: { orderCode: string; chargeId: string; totalCents: number }[];
  totalCents: number;
  requestId: string;
};

/** The orders in which an email address of a room was corrected. */
export type RoomCorrection = {
  roomCode: string;
  /** Your firm's orders in which the address was replaced. */
  corrected: string[];
  /** Your firm's orders that were left out, because their record was altered. Contact the operator of the service. */
  notCorrected: string[];
  /**
   * True if some new links were not mailed, because a room mails at most 25 a day. The links that were mailed to the
   * earlier email address no longer work.
   */
  linksNotMailed: boolean;
  requestId: string;
};

type Ok = { ok: true };

export type RoomList = { rooms: RoomSummary[]; nextCursor: string | null; requestId: string };

export function roomsOf(transport: Transport) {
  const { json } = transport;
  const list = (query: { limit?: number | undefined; cursor?: string | undefined } = {}): Promise<RoomList> =>
    json("GET", "/api/rooms", { query });
  return {
    create: (
      room: { name: string; reference?: string | undefined; closesOn?: string | undefined },
      { idempotencyKey = newIdempotencyKey() }: WriteOptions = {},
    ): Promise<CreatedRoom> => json("POST", "/api/rooms", { body: room, idempotencyKey }),

    /** One page of the rooms, newest first. */
    list,

    /** All rooms, newest first; pages are fetched on demand. */
    all: (): AsyncGenerator<RoomSummary, void, undefined> =>
      allOf(transport, "/api/rooms", {}, ({ rooms }: RoomList) => rooms),

    /** Returns the room as anybody with its code sees it; needs no key. */
    view: (roomCode: string): Promise<RoomView> => json("GET", path`/api/rooms/${roomCode}`),

    attach: (
      roomCode: string,
      order: { orderCode: string; label?: string | undefined },
    ): Promise<Ok & { alreadyAttached: boolean }> => json("POST", path`/api/rooms/${roomCode}/orders`, { body: order }),

    /**
     * Opens one hosted checkout for your firm's payable orders in the room. Includes only orders that the payer `payBy`
     * pays. If a checkout for the same orders is already open, returns that one.
     */
    checkout: (
      roomCode: string,
      { idempotencyKey = newIdempotencyKey(), payBy }: WriteOptions & { payBy?: "client" | "firm" | undefined } = {},
    ): Promise<RoomCheckout> =>
      json("POST", path`/api/rooms/${roomCode}/checkout`, { idempotencyKey, query: { payBy } }),

    /**
     * Charges your firm's card or bank account for every payable order of the room that your firm pays. Needs the scope
     * `spend`.
     */
    charge: (roomCode: string, { idempotencyKey = newIdempotencyKey() }: WriteOptions = {}): Promise<RoomCharge> =>
      json("POST", path`/api/rooms/${roomCode}/charge`, { idempotencyKey }),

    detach: (roomCode: string, orderCode: string): Promise<Ok> =>
      json("DELETE", path`/api/rooms/${roomCode}/orders/${orderCode}`),

    /** Issues a new code; the old one stops working at once. */
    rotate: (roomCode: string): Promise<{ roomCode: string; roomUrl: string }> =>
      json("POST", path`/api/rooms/${roomCode}/rotate`),

    /** Sets the day on which the closing is due, such as `2026-11-30`; null removes it. */
    setClosesOn: (roomCode: string, closesOn: string | null): Promise<Ok & { closesOn: string | null }> =>
      json("POST", path`/api/rooms/${roomCode}/closes-on`, { body: { closesOn } }),

    /**
     * Turns automatic sealing on or off. If it is on, the service seals the closing certificate once every order of the
     * room has ended and at least one is completed.
     */
    setSealWhenDone: (roomCode: string, sealWhenDone: boolean): Promise<Ok & { sealWhenDone: boolean }> =>
      json("POST", path`/api/rooms/${roomCode}/seal-when-done`, { body: { sealWhenDone } }),

    close: (roomCode: string): Promise<Ok & { status: string }> => json("POST", path`/api/rooms/${roomCode}/close`),

    reopen: (roomCode: string): Promise<Ok & { status: string }> => json("POST", path`/api/rooms/${roomCode}/reopen`),

    ...peopleOf(transport),
    ...closingPassportsOf(transport),
  };
}

const peopleOf = ({ json }: Transport) => ({
  participants: (roomCode: string): Promise<{ participants: Participant[]; requestId: string }> =>
    json("GET", path`/api/rooms/${roomCode}/participants`),

  addParticipant: (
    roomCode: string,
    participant: { name: string; email: string; role?: string | undefined },
  ): Promise<Ok & { alreadyPresent: boolean }> =>
    json("POST", path`/api/rooms/${roomCode}/participants`, { body: participant }),

  removeParticipant: (roomCode: string, participantId: string): Promise<Ok> =>
    json("DELETE", path`/api/rooms/${roomCode}/participants/${participantId}`),

  /**
   * Corrects a person's email address in your firm's orders of the room, and in the lists of participants and of
   * recipients of documents. Signatures keep the earlier address, and so do people whom a notary identifies now.
   */
  correctAddress: (
    roomCode: string,
    correction: { from: string; to: string; name?: string | null | undefined },
  ): Promise<RoomCorrection> => json("POST", path`/api/rooms/${roomCode}/corrections`, { body: correction }),
});

const closingPassportsOf = ({ json, bytes }: Transport) => ({
  /** Seals the next version of the room's closing passport. */
  seal: (roomCode: string): Promise<ClosingPassport> => json("POST", path`/api/rooms/${roomCode}/passport`),

  /** Returns the public record. Needs no key: anyone who has the verify code may call this. */
  verify: (verifyCode: string): Promise<ClosingVerification> => json("GET", path`/api/verify/room/${verifyCode}`),

  /** The sealed certificate PDF; needs no key. */
  certificate: (verifyCode: string): Promise<Uint8Array> => bytes(path`/api/verify/room/${verifyCode}/pdf`),

  /**
   * The proof that the transparency log contains the version. Refused with status 503 in the first seconds after its
   * sealing.
   */
  logProof: (verifyCode: string): Promise<Uint8Array> => bytes(path`/api/verify/room/${verifyCode}/tlog-proof`),

  /**
   * The `.ots` proof of the log's hourly root, which covers this version's entry. Refused with status 409 until the
   * OpenTimestamps calendars have that root.
   */
  rootOts: (verifyCode: string): Promise<Uint8Array> => bytes(path`/api/verify/room/${verifyCode}/ots`),
});
