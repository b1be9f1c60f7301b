// Who may import whom. docs/architecture.md draws the same picture.

/** The rooms of the service, from the ground up, and the rooms that each may import. */
const ground = ["identity", "platform", "pdf", "http", "audit", "events"];
const rooms = {
  identity: [],
  platform: ["identity"],
  pdf: ["platform"],
  http: ["identity", "platform"],
  audit: ["identity", "platform"],
  events: ["identity", "platform"],
  partners: [...ground],
  members: [...ground, "partners"],
  "access-requests": [...ground, "partners"],
  pricing: [...ground, "partners"],
  orders: [...ground, "partners", "pricing"],
  payments: [...ground, "partners", "pricing", "orders"],
  rooms: [...ground, "partners", "pricing", "orders"],
  seals: [...ground],
  anchoring: [...ground],
  "proof-passports": [...ground, "partners", "seals", "anchoring"],
  "closing-passports": [...ground, "partners", "orders", "rooms", "seals", "proof-passports"],
  fulfilment: [...ground, "partners", "pricing", "orders", "seals"],
  analytics: [...ground, "partners", "orders"],
  playbooks: [...ground, "partners", "orders"],
  webhooks: [...ground, "partners"],
};

const rule = (name, from, to, comment) => ({ name, severity: "error", comment, from, to });
const src = (names) => `^service/src/(${names})/`;

module.exports = {
  forbidden: [
    rule("no-circles", {}, { circular: true }, "No circles."),
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
    ...Object.entries(rooms).map(([room, below]) =>
      rule(
        `room-${room}`,
        { path: src(room) },
        { path: `^service/src/(?!(${[room, ...below].join("|")})/)` },
        `${room} imports only the rooms that it rests on.`,
      ),
    ),
    ...Object.keys(rooms)
      .filter((room) => !["identity", "platform", "pdf", "http"].includes(room))
      .map((room) =>
        rule(
          `door-${room}`,
          { path: "^(service|packages|tools|testing)/", pathNot: `^service/src/${room}/` },
          { path: `^service/src/${room}/`, pathNot: `^service/src/${room}/${room}\\.ts$|/by-processor\\.ts$` },
          `${room} is entered by its front door. The processor's transitions have a rule of their own.`,
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
      "Fastify stands in routes, http/ and web/ only.",
    ),
    rule(
      "one-road-to-paid",
      { path: "^service/src/(?!payments/)" },
      { path: "^service/src/orders/transitions/by-processor\\.ts" },
      "Only what the processor signed moves an order to Paid.",
    ),
    rule(
      "moves-go-by-their-doors",
      { path: "^service/src/(?!orders/transitions/(transitions|by-processor)\\.ts)" },
      { path: "^service/src/orders/transitions/apply\\.ts" },
      "People's moves go by transitions.ts, the processor's by by-processor.ts.",
    ),
    rule(
      "web-calls-front-doors",
      { path: "^service/src/(?!(web|cli)/|app\\.ts|main\\.ts)" },
      { path: src("web|cli") },
      "Nothing imports pages or verbs.",
    ),
    rule(
      "audiences-share-only-ui",
      { path: "^service/src/web/(client|dashboard|operator|verify|visitor)/" },
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
    exclude: { path: "^(?!node_modules).*/test/" },
    tsConfig: { fileName: "tsconfig.json" },
    parser: "swc",
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "default"],
      extensions: [".ts", ".js", ".cjs", ".mjs", ".json"],
    },
  },
};
