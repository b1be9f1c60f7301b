import type { ValueFault } from "../../../orders/order/order.ts";
import type { NoticeCode, PictureFault, SessionDocument } from "../../../signing/envelopes/envelopes.ts";
import { sign, viewer } from "./document/en.ts";

/**
 * Everything that the pages say in one language. The text of the consent is in a separate file, because its exact words
 * are recorded.
 */
export type Words = typeof en;

export const en = {
  language: "Language",
  title: "Sign a document",
  from: "Sent by",
  to: (name: string, email: string) => `For ${name} (${email})`,
  until: "Sign by",
  contact: "Questions",
  reference: "Reference",
  test: {
    title: "TEST",
    text: "This is a test. Nothing on this page is real, and a signature given here binds nobody.",
  },
  signers: {
    mixed: "Look closely: a word here mixes letters of different alphabets.",
    title: "Who signs",
    signed: "has signed",
    waiting: "has not signed yet",
    you: "you",
  },
  document: {
    title: "The document",
    open: "Open the document",
    size: (pages: number, hasSignaturePage: boolean, size: string) =>
      `PDF, ${pages === 1 ? "1 page" : `${pages} pages`}${hasSignaturePage ? " and a signature page that we add" : ""}, ${size}`,
    save: "Save a copy",
    note: "It opens in your browser. Come back to this page afterwards.",
  },
  notices: {
    title: "Look at these before you sign",
    lead: "What you see of this document may not be all of it:",
    page: (page: number) => `page ${page}`,
    of: {
      text_below_place: "A place to sign or fill in is on top of these words",
      active_content: "The document can change what a PDF reader shows. It names these actions",
      xfa_form: "The document has a second form (XFA), which some PDF readers show in place of its pages",
      drawn_by_readers: "PDF readers draw the values of form fields themselves, so that they may look different",
      hidden_layer: "A layer of the document is switched off, and a PDF reader can switch it on",
      screen_only: "Something is shown on screens and is not printed",
      print_differs: "On paper it may look different from the screen",
      media: "The document has sound, film or 3D content",
      attached_files: "Files are inside the document. You sign them, too, and its pages do not show them",
      hidden_text: "“Read as text” has these words, and the page may not show them",
      partly_examined: "Parts of the document could not be examined",
      ink_only: "The document takes no electronic signature",
    } satisfies Record<NoticeCode, string>,
  },
  text: {
    open: "Read as text",
    title: "The document as text",
    note: "This text is an aid for reading. It has no pictures and no layout, and may lack what was filled into fields: what you sign is the PDF.",
    back: "Back to signing",
    page: (page: number) => `Page ${page}`,
    nothing: "There is no text on this page. It may be a picture: open the document to see it.",
    more: "The document goes on: open it to read the rest.",
  },
  identify: {
    title: "Confirm that it’s you",
    mail: (email: string) => `We email a code of 6 digits to ${email}. Enter it here to see the document.`,
    access: (firm: string) => `Enter the access code that ${firm} gave you.`,
    text: (ending: string) =>
      `We send a code of 6 digits by text message to the number ending in ${ending}. Enter it here to see the document.`,
    send: "Email me a code",
    sendText: "Text me a code",
    sendLink: "Email me a link that opens it",
    sendLong: "Text me a code of 12 characters",
    code: "Code",
    go: "Continue",
  },
  enter: {
    title: "Open the document",
    text: "You came by the link of our message. Press the button to see the document.",
    go: "Open the document",
  },
  consent: {
    title: "Before you sign: electronic records and signatures",
    version: (version: string) => `Version ${version} of this text.`,
    canRead: "I opened the document and was able to read it.",
    agree: "I agree",
    toFields: "Go to your fields",
    given: "You agreed to sign electronically on",
  },
  sign,
  other: {
    title: "Other choices",
    paper: {
      label: "I want paper",
      text: "The electronic signing ends for everybody, and the sender is told to continue with you on paper.",
      go: "Ask for paper",
    },
    withdraw: {
      label: "I withdraw my consent",
      text: "You can no longer sign here. The electronic signing ends for everybody, and the sender is told.",
      go: "Withdraw my consent",
    },
    decline: {
      label: "I do not want to sign",
      text: "The signing ends for everybody, and the sender is told. This cannot be undone.",
      reason: "Why?",
      hint: "The sender can read this.",
      go: "Decline to sign",
    },
    notMe: {
      label: "I am not this person",
      text: "The signing ends for everybody, and the sender is told that this link reached the wrong person.",
      go: "This was not meant for me",
    },
    propose: {
      label: "Someone else should sign",
      text: "Say who. The sender decides, and sends that person a link. Until then this link stays yours.",
      name: "Name of the other person",
      email: "Email of the other person",
      go: "Tell the sender",
    },
  },
  states: {
    locked: {
      title: "This link is locked",
      text: "A wrong code was entered too many times. Ask the sender to unlock it or to send you a new link.",
      here: "If it was not you, nothing is lost: we send you a link that opens the document.",
      byText: "If it was not you, nothing is lost: we text you a longer code, which you enter here.",
    },
    waiting: {
      title: "It is not your turn yet",
      text: "Others sign before you. We email you when it is your turn.",
    },
    signed: {
      title: "You have signed",
      text: "Others still have to sign. We email you when the document is complete.",
    },
    completed: {
      title: "The document is signed",
      text: "Everybody has signed, and the document is sealed. Save a copy for your records. If anything else is to come, such as a meeting with a notary, you are emailed.",
    },
    declined: {
      title: "The signing has ended",
      text: "A signer did not sign, so nobody can sign here any more. We tell the sender.",
    },
    expired: {
      title: "The time to sign is over",
      text: "Ask the sender for a new link if you still want to sign.",
    },
    voided: {
      title: "This link no longer works",
      text: "The sender has withdrawn the document or replaced the link.",
    },
    broken: {
      title: "This link does not work",
      text: "Make sure that you copied the whole link from your email. If the sender gave you a newer link, use that one.",
    },
  },
  /** Words for signing on a notary's device. */
  room: {
    lead: "You read and sign on the notary’s device, in the notary’s presence. When you have questions, ask the notary.",
    back: "Hand the device to the notary",
    read: "You have read the document and agreed. The notary’s step comes next: hand the device back.",
    signed: "You have signed. Hand the device back.",
    remote: {
      lead: "You read and sign before the notary, who sees and hears you. When you have questions, ask the notary.",
      back: "The notary’s step comes next",
      read: "You have read the document and agreed. The notary goes on with you.",
      signed: "You have signed. The notary goes on.",
    },
  },
  /** Words for a link that opens several documents. */
  session: {
    title: (n: number, of: number) => `Document ${n} of ${of}`,
    signed: (n: number, of: number) => `You have signed ${n} of ${of}.`,
    next: (title: string) => `Next: ${title}`,
    states: {
      ready: "to sign",
      waiting: "not your turn yet",
      on_hold: "on hold: the sender is looking at it",
      signed: "you have signed",
      completed: "signed by everybody",
      declined: "will not be signed",
      expired: "the time to sign is over",
      voided: "will not be signed",
      identify: "to sign",
      locked: "to sign",
    } satisfies Record<SessionDocument["state"], string>,
    copy: "Everybody has signed this document, and it is sealed: save a copy for your records.",
    scope: { label: "Which documents?", this: "This document", all: "All documents that I have not signed" },
    withdraw:
      "You can no longer sign here. The signing of each document that you have not signed ends for everybody, and the sender is told. What you have signed stays valid.",
    notMe:
      "The signing of each document that is not signed ends for everybody, and the sender is told that this link reached the wrong person.",
  },
  embed: {
    title: "Read and sign",
    text: "A document waits for you here. Begin opens it for half an hour.",
    begin: "Begin",
    tab: "Open in a new tab instead",
    ended: "This page has ended",
    endedText: "It was opened before, or its time is over. Go back to where you came from, and open it again.",
    close: "Close",
    noScript: "Your browser runs no scripts here. To sign, open this page in a tab of its own.",
    needsTab: "To sign without scripts, open this page in a tab of its own.",
  },
  /** Words for signing in person on a device of the firm. */
  sitting: {
    title: "Hand the device on",
    to: (name: string) => `Hand the device to ${name}`,
    text: "You read and sign on this device. The pages of others are closed.",
    begin: (name: string) => `I am ${name}`,
    lead: (host: string) => `You sign in person, on a device that ${host} handed you.`,
    handOn: "Hand the device on",
    over: (host: string) => `Give the device back to ${host}`,
    overText: "Nobody else signs on this device now.",
    ended: "This device is no longer with signers",
    endedText: "The time for signing on it is over, or it was never handed over.",
    signIn: "Sign in",
  },
  copies: { sealed: "Save the signed document", custody_certificate: "Save the certificate of the signing" },
  signedAt: "You signed on",
  verify: "Check the signatures and the record of the signing",
  done: {
    code: "We emailed you. It can take a minute to arrive.",
    text: "We sent you a text message. It can take a minute to arrive.",
    consent: "Thank you. You can sign now.",
    signed: "Your signature is in the document.",
    declined: "We tell the sender.",
    proposed: "We are telling the sender who should sign.",
    language: "The language was changed.",
  },
  refused: {
    title: "Please check this",
    code: "That code is not right. Check it and try again.",
    entry: "This link was used, or a newer message has another one. Use the newest message, or ask for a code.",
    away: "The text message could not be sent just now. Nothing was changed: try again in a minute.",
    number: (ending: string) =>
      `The number ending in ${ending} takes no text messages. Tell the firm that sent the document.`,
    noCode: "Enter the code.",
    canRead: "Open the document and check the box first.",
    name: "Type your name, with at most 100 characters.",
    drawn: "The drawing cannot be read. Draw it again, or type your name.",
    picture: {
      format: "Choose a picture in the format PNG or JPEG.",
      size: "The picture is too large: at most 4 MB and 6 million pixels.",
      colors: "The picture has CMYK colors, for printing. Save it with RGB colors, or as PNG.",
      broken: "The picture cannot be read. Save it again as PNG or JPEG.",
      empty: "Nothing can be seen in the picture.",
    } satisfies Record<PictureFault, string>,
    missing: (label: string) => `${label}: this is needed.`,
    tooLong: (label: string) => `${label}: use at most 200 characters.`,
    unchecked: (label: string) => `${label}: check this box.`,
    calculated: (label: string, value: string) => `${label} is ${value}. Check it, and sign again.`,
    noResult: (label: string) => `${label}: the other fields give no result. Change them.`,
    pick: (label: string, least: number, most: number) =>
      `${label}: choose ${least === most ? most : `${least} to ${most}`}.`,
    value: {
      email: (label: string) => `${label}: enter an email address.`,
      phone_us: (label: string) => `${label}: enter a US phone number of 10 digits.`,
      zip_us: (label: string) => `${label}: enter a ZIP code of 5 or 9 digits.`,
      ssn_last4: (label: string) => `${label}: enter the last 4 digits.`,
      number: (label: string) => `${label}: enter a number such as 1,234.50.`,
      decimals: (label: string, limit: string) =>
        limit === "0" ? `${label}: enter a number without decimals.` : `${label}: use at most ${limit} decimals.`,
      min: (label: string, limit: string) => `${label}: enter at least ${limit}.`,
      max: (label: string, limit: string) => `${label}: enter at most ${limit}.`,
      option: (label: string) => `${label}: choose one of the list.`,
    } satisfies Record<ValueFault["rule"], (label: string, limit: string) => string>,
    other: "Enter the name and the email of the other person.",
    again: "Another signer has just signed, so the document has changed. Look at it and sign again.",
    changed: "That was not possible: things changed in the meantime. This is how they stand now.",
    often:
      "That was too soon, or too often. If you asked for a code, use the last one you got. Otherwise wait a minute and try again.",
    later: "That did not work just now, and nothing was changed. Try again in a moment.",
    input: "What was entered was not accepted.",
  },
  viewer,
};
