import type { Language } from "../../../../kernel/platform/languages.ts";
import { type Html, html } from "../../render.ts";
import { components } from "./components.ts";
import { fill, orders } from "./orders.ts";
import { room } from "./room.ts";

/** All texts of the pages for clients, in one language. */
export type Words = typeof en;

export const en = {
  language: "en" as Language,
  nav: { label: "Main", verify: "Verify", language: "Language" },
  preparedBy: "Prepared by",
  aboutUs: (firm: string) => `${firm} has documents signed, notarized, and delivered through SignSealShip.`,
  updates: "This page updates every 15 seconds.",
  reload: "Reload this page for the latest.",
  components,
  retention: {
    orderDeleted: (at: Html) =>
      html`The document of this order was deleted on ${at}, as the retention plan says. Its hash stays on record.`,
    ofTestOrder: (days: number) =>
      `Test documents are deleted ${days} days after the last change. Their hashes stay on record.`,
    ofTestRoom: (days: number) =>
      `Test documents, and test closing certificates, are deleted ${days} days after the last change. Their hashes stay on record.`,
  },
  orders,
  /**
   * Shown on the pages of test orders, rooms and deliveries; `pay` when a test order can only be paid in the sandbox.
   */
  test: {
    title: "This is a test",
    text: "Nothing in it is real: no money moves, nothing is shipped or faxed, and no signature or notarization binds anybody.",
    pay: "Nobody can pay for a test order here: the firm that placed it simulates the payment in its sandbox.",
  },
  orderPage: {
    next: "What happens next",
    begin: "Begin the order: there is nothing to pay",
    pay: (amount: string) => `Pay ${amount}`,
    payAll: (count: number, amount: string) => `Pay all ${count} documents together: ${amount}`,
    payThis: (amount: string) => `Pay this document alone: ${amount}`,
    payWithheld: (count: number) =>
      count === 1
        ? "One more document of this closing can’t be paid right now, and is left out. Your firm is looking at it."
        : `${count} more documents of this closing can’t be paid right now, and are left out. Your firm is looking at them.`,
    firmsTurn: "Your order was placed",
    nothingToPay: "There is nothing for you to pay. Work starts once the firm that placed the order has paid for it.",
    firmPays: "This page changes as soon as work starts.",
    bankPayment: [
      "Your bank payment is being processed. There is nothing else to do.",
      "Some banks take up to four business days. This page changes when the bank has answered.",
    ],
    payAgain: (amount: string) =>
      `Your bank took back your payment for this order. ${amount} is still due, and you can pay it again here.`,
    supplement: (amount: string) =>
      `The parcel goes to a corrected address, and postage to it costs more. The parcel waits until ${amount} more is paid.`,
    payHint: "You pay on the secure page of our payment processor. Nothing is charged before you confirm there.",
    toQuote: "See what the amount is for",
    progress: "Progress",
    signers: "Who signs",
    signingLink: "If you are one of them, open the signing link that was emailed to you. It is yours alone.",
    retention: "How long documents are kept",
    quote: "Quote",
    quoteCaption: "All amounts in US dollars",
    unpriced: "Quote so far",
    unpricedCaption: "Prices so far, in US dollars",
    totalSoFar: "Total so far",
    details: "Details",
    receipts: "Receipts",
    receiptsAltered:
      "Some receipts can’t be shown: a record of a payment was altered. The operator of this service has to look at it.",
    receipt: "Receipt",
    creditNote: "Credit note",
    creditReversal: "Credit note withdrawn",
    loss: "Payment returned by your bank",
    lossReversal: "Return by your bank withdrawn",
    documents: "Documents",
    paper: "This order’s page",
    facts: {
      document: "Document",
      reference: "Reference",
      firm: "Placed by",
      questions: "Questions",
      placed: "Placed",
      client: "Client",
      code: "Order code",
      copyCode: "order code",
      carrier: "Carrier",
      tracking: "Tracking number",
    },
    share: "Anyone with this link can see it, so share it with care.",
    shareDocuments: "Anyone with this link can download the documents, so share it with care.",
  },
  fill,
  room,
  refusals: {
    notFound: {
      title: "Page not found",
      text: "There is nothing at this address. If you followed a link from a message, make sure that you copied all of it, including the long code at the end, and nothing more.",
    },
    wrongMethod: {
      title: "This address does not accept this request",
      text: "A form was sent to an address that accepts no form, or you opened an address that has no page. Go back and try again.",
    },
    unavailable: {
      title: "Not available right now",
      text: "Part of this service is not available just now. Nothing was lost: try again in a few minutes.",
    },
    altered: {
      title: "The stored document was altered",
      text: "It no longer matches its recorded hash, so you do not get it. The operator of this service has to look at it.",
    },
    unreadable: { title: "That did not work", text: "The form could not be read." },
    broken: {
      title: "Something went wrong",
      text: "This is our fault, not yours. Please reload the page in a moment.",
    },
    busy: {
      title: "One moment, please",
      text: (minutes: number) =>
        `Too many requests came in a short time. Wait ${minutes > 1 ? `${minutes} minutes` : "a minute"} and try again.`,
    },
    home: "Go to the home page",
  },
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
  documentsMail: {
    button: "Get your documents",
    hint: (email: string) => `We email a link to them to ${email}, the address on the order.`,
    sent: {
      title: "The email is being sent",
      text: "We are sending the link to the documents to the client’s address. If it is not there in a few minutes, look in the spam folder.",
    },
    test: {
      title: "No email is sent in a test",
      text: "This order is a test, so the email with the link is stored by this service and sent to nobody.",
    },
    unsent: {
      title: "No email was sent",
      text: "The link was sent several times in the last 24 hours already, or there are no documents to send. Look for an earlier email, also in the spam folder, or ask the firm that placed the order.",
    },
  },
  delivery: {
    title: "Documents for you",
    lead: (firm: string) => `${firm} sends you documents.`,
    all: "Download everything (zip)",
    documents: "Documents",
    download: "Download",
    about: "About this delivery",
    closing: "Closing",
    reference: "File number",
    recipient: "For",
    until: "The link works until",
    check:
      "Each file can be checked without us. The zip has a page for this that works offline, and so does this site:",
    listed: "Each download is listed for the sender.",
    code: {
      title: "Type your code",
      intro: (email: string) => `We mail a code to ${email}, so that nobody else opens the documents.`,
      send: "Mail the code",
      again: "Mail another code",
      label: "Code",
      hint: "Six digits. It works for 10 minutes.",
      enter: "Open the documents",
      wrong: "This code is wrong or has expired.",
      ended: "No code is valid at the moment. Ask for a new one.",
      sent: "The code is being mailed. Look for it, also in the spam folder.",
      wait: "A code was mailed a moment ago, or too many were. Look for the newest one, also in the spam folder.",
      locked: "A wrong code was typed five times, so the link is locked. Ask its sender for another.",
    },
  },
  payment: {
    leaving: {
      title: "Opening the payment page",
      text: "You are being taken to our payment processor. If nothing happens, use the link below.",
      link: "Go to the payment page",
    },
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
