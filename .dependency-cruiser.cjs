// Who may import whom. A path pattern is a folder of the house; docs/architecture.md draws the same picture.
const service = (rooms) => `^service/src/(${rooms})/`;
const allBut = (rooms) => `^service/src/(?!(${rooms})/)`;
const rule = (name, from, to, comment) => ({
  name,
  severity: "error",
  comment,
  from: { path: from },
  to: { path: to },
});

const around = "platform|http|audit|events";

module.exports = {
  forbidden: [
    { name: "no-circles", severity: "error", comment: "No circles.", from: {}, to: { circular: true } },
    {
      name: "resolvable",
      severity: "error",
      comment: "Every import resolves.",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "evidence-is-pure",
      severity: "error",
      comment: "Runs in the browser: no built-in of Node, no package, nothing of ours.",
      from: { path: "^packages/evidence/src/" },
      to: { pathNot: "^packages/evidence/src/" },
    },
    {
      name: "sdk-stands-alone",
      severity: "error",
      comment: "Partners install it by itself.",
      from: { path: "^packages/sdk/src/" },
      to: { pathNot: "^packages/sdk/src/", dependencyTypesNot: ["core"] },
    },
    rule(
      "verifier-knows-evidence-only",
      "^packages/verifier/src/",
      "^(service|testing|bench)/|^packages/sdk/",
      "Works without the service.",
    ),
    rule("platform-is-the-ground", service("platform"), allBut("platform"), "Platform imports nothing of the service."),
    rule("around-requests", service("http|audit|events"), allBut(around), "http, audit and events rest on platform."),
    rule("partners", service("partners"), allBut(`${around}|partners`), "partners rest on what surrounds requests."),
    rule("pricing", service("pricing"), allBut(`${around}|partners|pricing`), "pricing rests on partners."),
    rule("orders", service("orders"), allBut(`${around}|partners|pricing|orders`), "orders rest on pricing."),
    rule(
      "payments",
      service("payments"),
      allBut(`${around}|partners|pricing|orders|payments`),
      "payments rest on orders.",
    ),
    rule(
      "one-road-to-paid",
      "^service/src/(?!payments/)",
      "^service/src/orders/processor-transitions\\.ts",
      "Only what the processor signed moves an order to Paid.",
    ),
    rule(
      "moves-go-by-their-doors",
      "^service/src/(?!orders/(transitions|processor-transitions)\\.ts)",
      "^service/src/orders/move\\.ts",
      "People's moves go by transitions.ts, the processor's by processor-transitions.ts.",
    ),
    rule(
      "fulfilment",
      service("fulfilment"),
      allBut(`${around}|partners|pricing|orders|passports|fulfilment`),
      "fulfilment rests on orders and seals by passports.",
    ),
    rule("rooms", service("rooms"), allBut(`${around}|partners|pricing|orders|rooms`), "rooms rest on orders."),
    rule(
      "passports",
      service("passports"),
      allBut(`${around}|partners|pricing|orders|rooms|passports`),
      "passports read orders and rooms.",
    ),
    rule(
      "analytics",
      service("analytics"),
      allBut(`${around}|partners|orders|analytics`),
      "analytics read orders and partners.",
    ),
    rule(
      "playbooks",
      service("playbooks"),
      allBut(`${around}|partners|orders|playbooks`),
      "playbooks know partners and orders at most.",
    ),
    rule("webhooks", service("webhooks"), allBut(`${around}|partners|webhooks`), "webhooks read events and partners."),
    rule(
      "nothing-imports-webhooks",
      `^service/src/(?!(webhooks|web|cli)/)[^/]+/`,
      service("webhooks"),
      "Events are recorded; nobody calls webhooks.",
    ),
    rule(
      "web-calls-front-doors",
      "^service/src/(?!(web|cli)/|app\\.ts|main\\.ts)",
      service("web|cli"),
      "Nothing imports pages or verbs.",
    ),
    rule(
      "product-not-tests",
      "^(packages|service)/[^/]*/?src/",
      "^(testing|bench|tools)/",
      "What ships knows no tests.",
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "/test/|^node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    parser: "swc",
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "default"],
      extensions: [".ts", ".js", ".cjs", ".mjs", ".json"],
    },
  },
};
