import type { MailOrder } from "../../../src/orders/fulfilment/client-letters.ts";

/** The order that the sample mails are about. */
export const order: MailOrder = {
  code: "a".repeat(40),
  customerEmail: "dana@example.com",
  customerName: "Dana Whitfield",
  title: "Deed of trust",
  reference: null,
  totalCents: 109_50,
  supplementCents: 4_30,
  lossCents: 95_00,
  refundedCents: 109_50,
  partCents: 20_00,
  lostCents: 0,
  paidCents: 109_50,
  faxTo: "+13125550199",
  carrier: "USPS",
  takenIn: false,
  isSimulated: false,
  acceptsPayment: true,
  carrierReports: true,
  machineReports: true,
  trackingNumber: "9400111899223197428490",
  firm: {
    name: "Acme Title & Escrow",
    accentColor: "#0f766e",
    logoUrl: "https://acme.example/logo.png",
    contactEmail: "closings@acme.example",
  },
};

export const links = {
  page: `https://sign.example/orders/${order.code}`,
  closing: `https://sign.example/orders/${order.code}/closing/${"e".repeat(40)}`,
  documents: `https://sign.example/orders/${order.code}/documents/${"b".repeat(40)}`,
};
