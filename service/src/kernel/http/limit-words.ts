import type { Policy } from "./rate-limits.ts";

/**
 * Describes each rate-limit policy for the guide about limits. `by` says whose requests are counted together, and
 * `appliesTo` which routes the policy covers.
 */
export const limitWords: Readonly<Record<Policy, { by: string; appliesTo: string }>> = {
  "partner-write": { by: "key", appliesTo: "Orders, signing, the sandbox, rooms, sealing rooms, running playbooks" },
  "partner-portal": {
    by: "session, or address without one",
    appliesTo: "Your account, webhooks and deliveries, analytics, the list of playbooks",
  },
  "public-read": { by: "address", appliesTo: "Viewing rooms, verifying closing passports and signatures" },
  "public-write": { by: "address", appliesTo: "Sealing a PDF, verifying proof passports" },
  "partner-request": { by: "address", appliesTo: "Asking for access" },
  "bad-key": { by: "address", appliesTo: "Requests whose key was refused" },
  log: { by: "address", appliesTo: "Reading the transparency log" },
  page: { by: "address", appliesTo: "Pages, these guides and the reference" },
  "sign-in": { by: "address", appliesTo: "Signing in" },
};
