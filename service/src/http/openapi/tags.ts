/** The parts of the interface, in the order in which a newcomer needs them. */
export const tags = [
  {
    name: "Orders",
    description:
      "An order is a completed document and what should happen to it: signing, notarization, shipping, fax. The price is computed here; no request carries an amount. The [quickstart](/docs/quickstart) places one.",
  },
  {
    name: "Sandbox",
    description:
      "Walks a test order through its life: its payment, its signatures, its delivery. Test orders and test keys only. See [test and live](/docs/test-and-live).",
  },
  {
    name: "Signing",
    description: "Who signs an order, what was signed, and how anyone can verify it.",
  },
  {
    name: "Rooms",
    description:
      "A closing room bundles the orders of one transaction under one link, with live status. See [rooms and closing passports](/docs/rooms).",
  },
  {
    name: "Closing passports",
    description:
      "A sealed, numbered snapshot of a room. Each version carries the hash of the previous one, and anyone with its code can verify it.",
  },
  {
    name: "Proof passports",
    description:
      "A seal for one PDF: a signature and independent time stamps that anyone can verify, also without us. See [verifying evidence](/docs/evidence).",
  },
  {
    name: "Webhooks",
    description:
      "Signed notices to your own server. Create a webhook, send it a test, then look at its deliveries. See the [webhooks guide](/docs/webhooks).",
  },
  { name: "Events", description: "What is posted to your webhooks, by topic." },
  { name: "Partner", description: "Your firm: its account, its way to live orders, and how to get access." },
  { name: "Analytics", description: "Figures about your own orders." },
  { name: "Playbooks", description: "Automations that are run for you. Limited release: off until enabled." },
];
