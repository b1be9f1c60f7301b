import type { OrderCard } from "../../../../closing/rooms/rooms.ts";

export const room = {
  reference: (reference: string) => `Reference ${reference}`,
  closingRoom: "Closing room",
  open: "Open",
  closed: "Closed",
  glance: "At a glance",
  inThisRoom: (orders: number, ended: number) =>
    `${orders === 1 ? "1 order" : `${orders} orders`} in this room${ended > 0 ? `, ${ended} canceled or refunded` : ""}`,
  meters: {
    signed: "Signed",
    sealed: "Sealed",
    delivered: "Delivered or complete",
    none: "None needed",
    of: (count: number, total: number) => `${count} of ${total}`,
  },
  orders: "Orders",
  noOrders: {
    title: "No orders yet",
    text: "Orders appear here once they are added.",
    closed: "The room was closed without orders.",
  },
  services: {
    sign: "Sign",
    notarize: "Notarize",
    ship: "Ship",
    fax: "Fax",
    none: "Document workflow",
  } satisfies Record<keyof OrderCard["services"] | "none", string>,
  signers: "Signers",
  hasSigned: "has signed",
  hasNotSigned: "has not signed yet",
  simulated: "no signature in the document",
  evidence: {
    sealed: "Sealed: any change to it would show",
    recorded: "On record, not sealed yet",
    none: "No evidence yet",
  } satisfies Record<OrderCard["evidenceBadge"], string>,
  tracking: "Tracking",
  added: "Added",
  passport: {
    title: "Closing certificate",
    sealed: (version: number) => `Version ${version} was sealed on`,
    lists:
      "It holds the fingerprints (hashes) of the documents at that time, so anyone can check that they have not changed.",
    none: "Not sealed yet. Once it is, it holds the fingerprints (hashes) of the documents, so anyone can check that they have not changed.",
    verify: "Verify the closing certificate",
  },
  people: "People",
  paper: "This room’s page",
  activity: {
    title: "Activity",
    none: { title: "No activity yet", text: "Changes to the orders are listed here." },
    actions: {
      "order.created": "Order placed",
      "order.claimed": "Claimed by the client",
      "order.cancelled": "Order canceled",
      "signing_link.issued": "Signing link made",
      "room.order_attached": "Added to this room",
    },
    changed: "Status changed",
    earlier: (steps: number) => (steps === 1 ? "and 1 step before" : `and ${steps} steps before`),
    every: "Show every step",
    latest: "Show the latest of each day",
  },
  share: "Anyone with this link can see the whole room, so share it with care.",
};
