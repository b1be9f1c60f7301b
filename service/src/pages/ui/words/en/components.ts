// These words are in a separate file, so that browsers load them only with the components that use them.
export const components = {
  steps: {
    done: "Done",
    current: "In progress",
    attention: "Needs attention",
    stopped: "Stopped",
    upcoming: "Later",
  },
  money: { item: "Item", amount: "Amount", subtotal: "Subtotal", discount: "Partner discount", total: "Total" },
  copy: { go: "Copy", done: "Copied", what: (what: string) => `Copy ${what}` },
  /** The words on a printed page. */
  paper: {
    page: "This page, with everything that can be checked",
    qr: "QR code of this page’s address",
    printed: "Printed on",
  },
};
