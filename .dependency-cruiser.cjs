// The import rules. docs/architecture.md draws the same picture.

/** The wings of the service, lowest first: each wing imports only wings before it. */
const wings = [
  "kernel",
  "providers",
  "firms",
  "evidence",
  "orders",
  "signing",
  "closing",
  "outgoing",
  "delivery",
  "upkeep",
  "pages",
  "cli",
];

/**
 * The layers of features with many folders, lowest first: each folder imports only its own files and those of the
 * folders before it.
 */
const floors = {
  "orders/payments": [
    "processor",
    "records",
    "checkout",
    "mails",
    "debts",
    "methods",
    "charges",
    "events",
    "refunds",
    "reconcile",
    "sandbox",
  ],
  "signing/envelopes": [
    "pdf",
    "pictures",
    "reading",
    "consent",
    "texts",
    "records",
    "preflight",
    "custody",
    "lifecycle",
    "ceremony",
    "mails",
    "api",
    "public",
  ],
  "signing/notaries": [
    "commissions",
    "acts",
    "eligibility",
    "uploads",
    "recordings",
    "sheets",
    "claims",
    "identity",
    "schedule",
    "presence",
    "sessions",
    "appointments",
    "in-person",
    "queue",
    "desk",
    "signing",
  ],
};

/** Pairs of sibling folders, the lower one first. The lower one imports nothing from the upper one. */
const siblings = [
  ["kernel/pdf/xref", "kernel/pdf/pages"],
  ["pages/dashboard/orders", "pages/dashboard/rooms"],
  ["pages/operator/orders", "pages/operator/paper"],
  ["pages/operator/notary", "pages/operator/notaries"],
];

/** The one import that leads up: a session that ends without its act ends its appointment, too. */
const upward = "^service/src/signing/notaries/sessions/end\\.ts$";

const rule = (name, from, to, comment) => ({ name, severity: "error", comment, from, to });
/** Features that other code enters only by the file of their name. The wing "providers" is a single feature. */
const features =
  "^service/src/(kernel/(audit|events|retention|tasks|test-clock)|providers|(firms|evidence|orders|signing|outgoing|closing|delivery)/[^/]+|upkeep/(backup|console))/";
// Further files that other features may import. The wing "providers" has a `wing.ts`, like every wing. The processor's
// transitions have a rule of their own. A worker tries a seal without loading the rest of sealing, the partners' command
// line signs events without loading their delivery, and browsers format values as documents do.
const frontDoor =
  "^service/src/(?:providers/providers|[^/]+/([^/]+)/\\1)\\.ts$|/wing\\.ts$|/transitions/by-processor\\.ts$|/seals/trial\\.ts$|/webhooks/delivery-headers\\.ts$|/form/(field-values|field-rules)\\.ts$";
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
      "readers-share-no-code",
      { path: "^service/src/kernel/pdf/" },
      { path: "^packages/(evidence/src/pdf|verifier/src)/" },
      "The sealer's PDF reader uses nothing of the verifier's (docs/decisions/two-readers.md).",
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
    ...wings
      .slice(0, -1)
      .map((wing, below) =>
        rule(
          `imports-of-${wing}`,
          { path: src(wing) },
          { path: `^service/src/(?!(${wings.slice(0, below + 1).join("|")})/)` },
          `${wing} imports only the wings below it.`,
        ),
      ),
    ...Object.entries(floors).flatMap(([feature, folders]) =>
      folders.map((floor, below) =>
        rule(
          `imports-of-${feature.replace("/", "-")}-${floor}`,
          { path: src(`${feature}/${floor}`), pathNot: upward },
          { path: `^service/src/${feature}/(?!(${folders.slice(0, below + 1).join("|")})/)[^/]+/` },
          `${floor} imports only the floors of ${feature} below it.`,
        ),
      ),
    ),
    ...siblings.map(([lower, upper]) =>
      rule(
        `imports-of-${lower.replaceAll("/", "-")}`,
        { path: src(lower) },
        { path: src(upper) },
        `${lower} is below ${upper}.`,
      ),
    ),
    rule(
      "ended-session-imports",
      { path: upward },
      { path: "^service/src/signing/notaries/(in-person|queue|desk|signing)/" },
      "The end of a session imports appointments, and no floor above them.",
    ),
    rule(
      "front-doors-of-features",
      { path: "^service/src/(?!providers/)([^/]+/[^/]+)/" },
      { path: features, pathNot: `^service/src/$1/|${frontDoor}` },
      "A feature is entered by the file of its name.",
    ),
    rule(
      "front-doors-from-elsewhere",
      {
        path: "^(service/src/([^/]+|[^/]+/[^/]+|(providers|upkeep|pages|cli)/.*)\\.ts$|packages/|tools/|testing/)",
        pathNot: features,
      },
      { path: features, pathNot: frontDoor },
      "A feature is entered by the file of its name.",
    ),
    rule(
      "features-know-no-wing",
      { path: "^service/src/[^/]+/[^/]+/" },
      { path: "/wing\\.ts$" },
      "Only wings, the pages as a whole, and the files directly in src know the wings.",
    ),
    rule(
      "domain-knows-no-http",
      {
        path: "^service/src/(?!kernel/(http|identity|platform)/|pages/|cli/)[^/]+/",
        // The metrics count the requests that the HTTP layer refuses.
        pathNot: "(^|/|-)(routes?|schemas)\\.ts$|/upkeep/monitoring\\.ts$|/wing\\.ts$",
      },
      { path: "^service/src/kernel/http/" },
      "The domain knows no HTTP.",
    ),
    rule(
      "fastify-at-the-edge",
      { path: "^service/src/(?!kernel/http/|pages/|app\\.ts|main\\.ts)", pathNot: "(^|/|-)routes?\\.ts$|/wing\\.ts$" },
      { path: "node_modules/(fastify|@fastify)/" },
      "Only routes, wing.ts, http/ and pages/ know Fastify.",
    ),
    rule(
      "passkey-library-in-workers",
      { path: "^service/src/", pathNot: "/passkeys/verify-task\\.ts$" },
      { path: "node_modules/@simplewebauthn/" },
      "It takes a quarter of a second to load.",
    ),
    rule(
      "pdf-reader-in-workers",
      { path: "^service/src/(?!pages/)", pathNot: "/(placement/tags/page-texts|pictures/jpeg|pdf/pdf-js)\\.ts$" },
      { path: "node_modules/pdfjs-dist/" },
      "It takes a quarter of a second to load, and as long as a stranger's document wants.",
    ),
    rule(
      "paid-only-by-processor",
      { path: "^service/src/(?!orders/payments/)" },
      { path: "^service/src/orders/order/transitions/by-processor\\.ts" },
      "Only what the processor signed moves an order to Paid.",
    ),
    rule(
      "transitions-by-their-entries",
      { path: "^service/src/(?!orders/order/transitions/(transitions|by-processor)\\.ts)" },
      { path: "^service/src/orders/order/transitions/apply\\.ts" },
      "People's transitions go through transitions.ts, the processor's through by-processor.ts.",
    ),
    rule(
      "nothing-imports-pages-or-verbs",
      { path: "^service/src/(?!(pages|cli)/|app\\.ts|main\\.ts)" },
      { path: src("pages|cli") },
      "Nothing imports pages or verbs.",
    ),
    rule(
      "audiences-share-only-ui",
      { path: "^service/src/pages/(client|dashboard|live|operator|signing|verify|visitor)/" },
      { path: "^service/src/pages/(?!ui/)", pathNot: "^service/src/pages/$1/" },
      "Pages of one audience know nothing of another's; what both need lies in ui/.",
    ),
    rule(
      "ui-knows-no-audience",
      { path: "^service/src/pages/ui/" },
      { path: "^service/src/pages/(?!ui/)" },
      "ui/ is below all audiences.",
    ),
    rule(
      "browser-code-is-reached-by-bundles",
      { path: "^service/src/pages/.*/browser/" },
      {
        path: "^service/src/(?!pages/|kernel/pdf/(proposals/|field-values\\.ts)|orders/order/form/(field-values|field-rules|formula)\\.ts)",
      },
      "What runs in a browser imports nothing of the service but the pure rules of values, and of places and values in a document.",
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
