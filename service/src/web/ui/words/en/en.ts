import { html } from "../../render.ts";
import type { Words } from "../words.ts";
import { components } from "./components.ts";
import { orderPage } from "./order-page.ts";
import { orders } from "./orders.ts";
import { refusals } from "./refusals.ts";
import { room } from "./room.ts";

export const en: Words = {
  language: "en",
  nav: { label: "Main", verify: "Verify" },
  other: { language: "es", name: "Español" },
  preparedBy: "Prepared by",
  aboutUs: (firm) => `${firm} has documents signed, notarized, and delivered through SignSealShip.`,
  updates: "This page updates every 15 seconds.",
  reload: "Reload this page for the latest.",
  components,
  retention: {
    orderDeleted: (at) =>
      html`The document of this order was deleted on ${at}, as the retention plan says. Its hash stays on record.`,
    ofTestOrder: (days) =>
      `Test documents are deleted ${days} days after the last change. Their hashes stay on record.`,
    ofTestRoom: (days) =>
      `Test documents, and the certificates of test closing passports, are deleted ${days} days after the last change. Their hashes stay on record.`,
  },
  orders,
  orderPage,
  room,
  refusals,
  unknownCode: {
    page: "Unknown code",
    verdict: {
      title: "We don’t know this code",
      text: "Make sure that you copied the whole link, including the long code at the end.",
    },
    have: { document: "Do you have the document?", certificate: "Do you have the certificate?" },
    noCode: "Then you don’t need a code:",
    check: "check the file itself",
  },
  payment: {
    returned: {
      title: "Thank you",
      text: "Your payment is being confirmed. Your order moves on once our payment processor tells us that the money has cleared, which usually takes less than a minute. You may close this page.",
    },
    cancelled: {
      title: "Nothing was paid",
      text: "You left the payment page. Your order is unchanged, and you can pay for it later.",
    },
    unavailable: {
      title: "Payment is not possible right now",
      text: "The payment page could not be opened, and nothing was paid. Please try again in a few minutes.",
    },
    back: "See the order",
  },
};
