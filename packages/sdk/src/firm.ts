import { path, type Transport } from "./transport.ts";

/** The firm's progress toward going live. */
export type Launchpad = {
  partner: { id: string; name: string; tier: string };
  /** True if all steps in `checklist` except `live` are done. */
  readyForLive: boolean;
  completed: number;
  total: number;
  /** The steps toward going live. `deepLink` is the path of the page for the step. */
  checklist: { key: string; label: string; done: boolean; action: string; deepLink: string }[];
  funnel: { step: string; reached: boolean; at: string | null }[];
  /** Hours from the firm's joining to its first live order, with two decimals; null before that order. */
  hoursToFirstLiveOrder: number | null;
  requestId: string;
};

/**
 * Figures about the orders created in the last `windowDays` days in the key's environment. Each order is counted by its
 * present status.
 */
export type Analytics = {
  windowDays: number;
  /** Oldest first, `YYYY-MM` in UTC; months without orders are left out. */
  volumeByMonth: { month: string; createdCount: number; completedCount: number }[];
  /**
   * The number of orders in each of five stages. Each order is in exactly one stage, so the numbers add up to all
   * orders of the last `windowDays` days.
   */
  funnel: { created: number; paid: number; inProgress: number; completed: number; problem: number };
  /** Hours from an order's payment to its completion; 0 when no paid order was completed. */
  turnaroundHours: { median: number; p90: number };
  /**
   * For each service, the number of orders that include it. An order with several services is counted once for each
   * service.
   */
  serviceMix: { sign: number; notarize: number; ship: number; fax: number };
  /**
   * The numbers of completed orders, of sealed and notarized documents, and of delivered shipments. Only the first is a
   * number of orders.
   */
  evidence: { totalCompleted: number; sealedDocumentCount: number; deliveredWithProofCount: number };
  /**
   * The total in US cents of the paid, in-progress and completed orders: the money that the firm and its clients spend.
   */
  revenueCents: number;
  generatedAt: string;
  requestId: string;
};

/** A playbook of the service, and its parameters. */
export type Playbook = {
  key: string;
  name: string;
  description: string;
  paramSchema: { name: string; type: "string" | "int" | "bool"; required: boolean; maxLength: number | null }[];
};

/** A request for access, by a firm that has no key yet. */
export type AccessRequest = {
  firmName: string;
  contactName: string;
  workEmail: string;
  /** The contact's role at the firm. */
  role?: string | null;
  /** The number of documents a month that the firm expects, in words. */
  expectedVolume?: string | null;
  /** The intended use, in a few sentences. */
  useCase?: string | null;
  recaptchaToken?: string | null;
};

/** `issued`: a trial key was mailed to the work email address, once; `pending`: a person reviews the request. */
export type AccessAnswer = { status: "issued" | "pending"; message: string };

export const firmOf = ({ json }: Transport) => ({
  /** Lists the steps toward going live, done and missing. */
  launchpad: (): Promise<Launchpad> => json("GET", "/api/partner/launchpad"),

  /**
   * Returns figures about the firm's orders.
   * @param days 1 to 366, clamped; default 90
   */
  analytics: (query: { days?: number | undefined } = {}): Promise<Analytics> =>
    json("GET", "/api/partner/analytics", { query }),

  /** Requests a key. The call itself needs no key. */
  requestAccess: (request: AccessRequest): Promise<AccessAnswer> =>
    json("POST", "/api/partner/request", { body: request }),
});

export const playbooksOf = ({ json }: Transport) => ({
  list: (): Promise<{ playbooks: Playbook[] }> => json("GET", "/api/partner/playbooks"),

  /** Starts a playbook. `args` are the arguments that the playbook's `paramSchema` names. */
  run: (key: string, args: Readonly<Record<string, string | number | boolean>>): Promise<{ executionName: string }> =>
    json("POST", path`/api/partner/playbooks/${key}/run`, {
      body: new URLSearchParams(Object.entries(args).map(([name, value]) => [name, String(value)])),
    }),
});
