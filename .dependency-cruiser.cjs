// Who may import whom. docs/architecture.md draws the same picture.

/** What every feature may import. */
const foundation = ["identity", "platform", "pdf", "http", "audit", "events", "retention"];
/** What sends an order's documents out by a provider. */
const throughProviders = [
  ...foundation,
  "pricing",
  "orders",
  "seals",
  "fulfilment",
  "envelopes",
  "paper",
  "providers",
  "receipts",
  "tasks",
];
/** The folders of the service, lowest first, and the folders that each may import. */
const layers = {
  identity: [],
  platform: ["identity"],
  pdf: ["platform"],
  http: ["identity", "platform"],
  audit: ["identity", "platform"],
  events: ["identity", "platform"],
  retention: ["identity", "platform", "audit"],
  tasks: [...foundation],
  providers: [...foundation, "tasks"],
  partners: [...foundation],
  members: [...foundation, "partners"],
  operators: [...foundation, "members", "tasks"],
  "access-requests": [...foundation, "partners", "tasks"],
  pricing: [...foundation, "partners"],
  orders: [...foundation, "partners", "pricing", "tasks"],
  payments: [...foundation, "partners", "pricing", "orders", "tasks"],
  rooms: [...foundation, "partners", "pricing", "orders"],
  seals: [...foundation],
  anchoring: [...foundation],
  "proof-passports": [...foundation, "partners", "seals", "anchoring"],
  "closing-passports": [...foundation, "partners", "orders", "rooms", "seals", "proof-passports", "envelopes"],
  fulfilment: [...foundation, "partners", "pricing", "orders", "seals", "tasks", "providers"],
  receipts: [...foundation, "pricing", "orders", "seals", "fulfilment", "providers", "tasks"],
  refunds: [...foundation, "orders", "payments", "fulfilment", "operators", "tasks"],
  notaries: [...foundation, "partners", "pricing", "orders", "seals", "fulfilment", "operators", "tasks"],
  paper: [...foundation, "pricing", "orders", "seals", "fulfilment", "envelopes", "operators", "tasks"],
  shipping: throughProviders,
  faxing: throughProviders,
  "order-search": [...foundation, "partners", "pricing", "orders"],
  console: [
    ...foundation,
    "order-search",
    "partners",
    "pricing",
    "orders",
    "payments",
    "fulfilment",
    "operators",
    "providers",
    "shipping",
    "tasks",
  ],
  envelopes: [...foundation, "partners", "pricing", "orders", "seals", "fulfilment", "tasks"],
  analytics: [...foundation, "partners", "orders"],
  playbooks: [...foundation, "partners", "orders", "tasks"],
  webhooks: [...foundation, "partners", "orders"],
  "test-clock": [...foundation],
  backup: [...foundation],
};

const rule = (name, from, to, comment) => ({ name, severity: "error", comment, from, to });
const src = (names) => `^service/src/(${names})/`;

module.exports = {
  forbidden: [
    rule("no-cycles", {}, { circular: true }, "No cycles."),
    rule("resolvable", {}, { couldNotResolve: true }, "Every import resolves."),
    rule(
      "evidence-is-pure",
      { path: "^packages/evidence/src/" },
      { pathNot: "^packages/evidence/src/" },
      "Runs in the browser: no built-in of Node, no package, nothing of ours.",
    ),
    rule(
      "sdk-stands-alone",
      { path: "^packages/sdk/src/" },
      { pathNot: "^packages/sdk/src/", dependencyTypesNot: ["core"] },
      "Partners install it by itself.",
    ),
    rule(
      "packages-know-no-service",
      { path: "^packages/([^/]+)/src/" },
      { path: "^(service|testing|bench|packages/sdk)/", pathNot: "^packages/$1/" },
      "Packages work without the service, and without its client.",
    ),
    ...Object.entries(layers).map(([folder, below]) =>
      rule(
        `imports-of-${folder}`,
        { path: src(folder) },
        { path: `^service/src/(?!(${[folder, ...below].join("|")})/)` },
        `${folder} imports only the folders below it.`,
      ),
    ),
    ...Object.keys(layers)
      .filter((folder) => !["identity", "platform", "pdf", "http"].includes(folder))
      .map((feature) =>
        rule(
          `front-door-of-${feature}`,
          { path: "^(service|packages|tools|testing)/", pathNot: `^service/src/${feature}/` },
          {
            path: `^service/src/${feature}/`,
            pathNot: `^service/src/${feature}/${feature}\\.ts$|/by-processor\\.ts$|^service/src/seals/trial\\.ts$|^service/src/webhooks/delivery-headers\\.ts$`,
          },
          `${feature} is entered by its front door. The processor's transitions have a rule of their own; a worker tries a seal without all that makes one, and the command line of partners signs events without all that sends them.`,
        ),
      ),
    rule(
      "domain-knows-no-http",
      {
        path: "^service/src/(?!(http|web|cli|identity|platform)/)[^/]+/",
        pathNot: "(^|/|-)(routes?|schemas)\\.ts$",
      },
      { path: "^service/src/http/" },
      "The domain knows no HTTP.",
    ),
    rule(
      "fastify-at-the-edge",
      { path: "^service/src/(?!(http|web)/|app\\.ts|main\\.ts)", pathNot: "(^|/|-)routes?\\.ts$" },
      { path: "node_modules/(fastify|@fastify)/" },
      "Fastify is known to routes, http/ and web/ only.",
    ),
    rule(
      "passkey-library-in-workers",
      { path: "^service/src/", pathNot: "/passkeys/verify-task\\.ts$" },
      { path: "node_modules/@simplewebauthn/" },
      "It takes a quarter of a second to load.",
    ),
    rule(
      "pdf-reader-in-workers",
      { path: "^service/src/(?!web/)", pathNot: "/(placement/tags/page-texts|pictures/jpeg|pdf/pdf-js)\\.ts$" },
      { path: "node_modules/pdfjs-dist/" },
      "It takes a quarter of a second to load, and as long as a stranger's document wants.",
    ),
    rule(
      "paid-only-by-processor",
      { path: "^service/src/(?!payments/)" },
      { path: "^service/src/orders/transitions/by-processor\\.ts" },
      "Only what the processor signed moves an order to Paid.",
    ),
    rule(
      "transitions-by-their-entries",
      { path: "^service/src/(?!orders/transitions/(transitions|by-processor)\\.ts)" },
      { path: "^service/src/orders/transitions/apply\\.ts" },
      "People's transitions go through transitions.ts, the processor's through by-processor.ts.",
    ),
    rule(
      "nothing-imports-pages-or-verbs",
      { path: "^service/src/(?!(web|cli)/|app\\.ts|main\\.ts)" },
      { path: src("web|cli") },
      "Nothing imports pages or verbs.",
    ),
    rule(
      "audiences-share-only-ui",
      { path: "^service/src/web/(client|dashboard|operator|signing|verify|visitor)/" },
      { path: "^service/src/web/(?!ui/)", pathNot: "^service/src/web/$1/" },
      "Pages of one audience know nothing of another's; what both need lies in ui/.",
    ),
    rule(
      "ui-knows-no-audience",
      { path: "^service/src/web/ui/" },
      { path: "^service/src/web/(?!ui/)" },
      "ui/ is below all audiences.",
    ),
    rule(
      "browser-code-is-reached-by-bundles",
      { path: "^service/src/web/.*/browser/" },
      { path: "^service/src/(?!web/)" },
      "What runs in a browser imports nothing of the service.",
    ),
    rule(
      "product-not-tests",
      { path: "^(packages|service)/[^/]*/?src/" },
      { path: "^(testing|bench|tools)/" },
      "What ships knows no tests.",
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(?!node_modules).*/(test|dist)/" },
    tsConfig: { fileName: "tsconfig.json" },
    parser: "swc",
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "default"],
      extensions: [".ts", ".js", ".cjs", ".mjs", ".json"],
    },
  },
};
