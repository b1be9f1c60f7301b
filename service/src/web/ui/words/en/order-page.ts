import type { OrderPageWords } from "../words.ts";

export const orderPage: OrderPageWords = {
  test: {
    title: "A test order",
    text: "Nothing in it is real: no money moves, and nothing is signed, notarized, or sent.",
  },
  next: "What happens next",
  pay: (amount) => `Pay ${amount}`,
  progress: "Progress",
  signers: "Who signs",
  signingLink: "If you are one of them, open the signing link that was emailed to you. It is yours alone.",
  retention: "How long documents are kept",
  quote: "Quote",
  quoteCaption: "All amounts in US dollars",
  unpriced: "Quote so far",
  unpricedCaption: "What is priced so far, in US dollars",
  totalSoFar: "Total so far",
  details: "Details",
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
  },
  share: "Anyone with this link can see it, so share it with care.",
  shareDocuments: "Anyone with this link can download the documents, so share it with care.",
};
