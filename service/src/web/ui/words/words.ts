import type { Language, OrderDocument, SignerState } from "../../../envelopes/envelopes.ts";
import type { OrderStatus } from "../../../orders/orders.ts";
import type { OrderCard } from "../../../rooms/rooms.ts";
import type { Html } from "../render.ts";
import type { ComponentWords } from "./component-words.ts";

type Part = { readonly title: string; readonly text: string };

/** A status at length: as the page's heading, what it means, and what happens now. */
export type StatusText = { readonly headline: string; readonly summary: string; readonly next: readonly string[] };

/** Statuses that say more of their step than that it is done. */
type NotedStatus = Exclude<OrderStatus, "Created" | "Paid" | "EsignComplete" | "NotarizationComplete" | "Completed">;

export type StepName = "placed" | "payment" | "sign" | "notarize" | "ship" | "fax" | "finished";

type KnownAction =
  | "order.created"
  | "order.claimed"
  | "order.cancelled"
  | "signing_link.issued"
  | "room.order_attached";

/** What order pages say, beside what firms and the price book say. */
export type OrderWords = {
  readonly statusLabels: Readonly<Record<OrderStatus, string>>;
  readonly statuses: Readonly<Record<OrderStatus, StatusText>>;
  /** Of a status that is newer than the page. */
  readonly otherStatus: (status: string) => StatusText;
  readonly steps: {
    readonly labels: Readonly<Record<StepName, string>>;
    readonly faxTo: (number: string) => string;
    readonly notes: Readonly<Record<NotedStatus, string>>;
  };
  /** Of a person who did not sign here, though the order has a signed document. */
  readonly signedElsewhere: string;
  /** Of a document that was signed or notarized elsewhere. */
  readonly takenIn: string;
  readonly signerStates: Readonly<Record<SignerState["status"], string>>;
  readonly documentTitles: Readonly<Record<OrderDocument["kind"], string>>;
  readonly deleted: string;
  readonly hashOf: (document: string) => string;
  /** What an order without a name is called. */
  readonly unnamed: (shortCode: string) => string;
  readonly lineLabel: (line: { readonly type: string; readonly label: string }) => string;
};

export type OrderPageWords = Readonly<
  Record<
    | "next"
    | "progress"
    | "signers"
    | "signingLink"
    | "retention"
    | "quote"
    | "quoteCaption"
    | "unpriced"
    | "unpricedCaption"
    | "totalSoFar"
    | "details"
    | "documents"
    | "payHint"
    | "toQuote"
    | "paper",
    string
  >
> & {
  readonly test: Part;
  readonly pay: (amount: string) => string;
  readonly facts: Readonly<
    Record<
      | "document"
      | "reference"
      | "firm"
      | "questions"
      | "placed"
      | "client"
      | "code"
      | "copyCode"
      | "carrier"
      | "tracking",
      string
    >
  >;
  readonly share: string;
  readonly shareDocuments: string;
};

export type RoomWords = {
  readonly test: Part;
  readonly reference: (reference: string) => string;
  readonly closingRoom: string;
  readonly open: string;
  readonly closed: string;
  readonly glance: string;
  readonly inThisRoom: (orders: number, ended: number) => string;
  readonly meters: Readonly<Record<"signed" | "sealed" | "delivered" | "none", string>> & {
    readonly of: (count: number, total: number) => string;
  };
  readonly orders: string;
  readonly noOrders: Part & { readonly closed: string };
  readonly services: Readonly<Record<keyof OrderCard["services"] | "none", string>>;
  readonly signers: string;
  readonly hasSigned: string;
  readonly hasNotSigned: string;
  readonly evidence: Readonly<Record<OrderCard["evidenceBadge"], string>>;
  readonly tracking: string;
  readonly added: string;
  readonly passport: Readonly<Record<"title" | "none" | "verify", string>> & {
    /** Around the time of the sealing. */
    readonly sealed: (version: number) => string;
    readonly lists: string;
  };
  readonly people: string;
  readonly paper: string;
  readonly activity: {
    readonly title: string;
    readonly none: Part;
    readonly actions: Readonly<Record<KnownAction, string>>;
    readonly changed: string;
    readonly earlier: (steps: number) => string;
    readonly every: string;
    readonly latest: string;
  };
  readonly share: string;
};

/** What the pages of verification say of a code that nobody was given. */
export type UnknownCodeWords = Readonly<Record<"page" | "check", string>> & {
  readonly verdict: Part;
  /** Asks for what somebody may have without a code. */
  readonly have: Readonly<Record<"document" | "certificate", string>>;
  readonly noCode: string;
};

/** What clients can be refused with. */
export type RefusalWords = Readonly<
  Record<"notFound" | "wrongMethod" | "unavailable" | "unreadable" | "broken", Part>
> & {
  readonly busy: { readonly title: string; readonly text: (minutes: number) => string };
  readonly home: string;
};

/** Everything that the pages for clients say in a language. */
export type Words = {
  readonly language: Language;
  readonly nav: { readonly label: string; readonly verify: string };
  /** The other language, by its own name. */
  readonly other: { readonly language: Language; readonly name: string };
  readonly preparedBy: string;
  /** Who we are to a client of the firm. */
  readonly aboutUs: (firm: string) => string;
  readonly updates: string;
  readonly reload: string;
  readonly components: ComponentWords;
  readonly retention: {
    /** Around the time of the deletion. */
    readonly orderDeleted: (at: Html) => Html;
    readonly ofTestOrder: (days: number) => string;
    readonly ofTestRoom: (days: number) => string;
  };
  readonly orders: OrderWords;
  readonly orderPage: OrderPageWords;
  readonly room: RoomWords;
  readonly refusals: RefusalWords;
  readonly unknownCode: UnknownCodeWords;
  readonly payment: Readonly<Record<"returned" | "cancelled" | "unavailable", Part>> & { readonly back: string };
};
