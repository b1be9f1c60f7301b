import type { Call, CallOutcome } from "../calls/call.ts";
import { dataOf, faxesOf, faxOf, idOf, type TelnyxFax } from "./answers.ts";

/** A failed request, with Telnyx's reason. */
type TelnyxFailure = Exclude<CallOutcome, { kind: "answered" }>;
type TelnyxResult<R> = { kind: "done"; result: R } | TelnyxFailure;

type FaxToSend = {
  /** The id of the fax application. `from` is the number that sends the fax. */
  app: string;
  from: string;
  /** The receiving number in E.164 form. */
  to: string;
  pdf: Buffer;
  /** Telnyx returns this text in events and lists. It must not be a secret. */
  clientState: string;
};

/** The parts of Telnyx's API that the service uses. No method retries or rejects. */
export type Telnyx = {
  sendFax: (fax: FaxToSend) => Promise<TelnyxResult<TelnyxFax>>;
  getFax: (id: string) => Promise<TelnyxResult<TelnyxFax>>;
  /** The faxes to the number `to` that were created at `since` or later. A fax that can't be parsed is null. */
  listFaxes: (which: { to: string; since: Date }) => Promise<TelnyxResult<(TelnyxFax | null)[]>>;
  /** Cancels a fax in progress. */
  cancelFax: (id: string) => Promise<TelnyxResult<null>>;
  /**
   * Sends a text message.
   * @returns Telnyx's id of the message
   */
  sendText: (message: { from: string; to: string; text: string }) => Promise<TelnyxResult<string>>;
};

const pageSize = 100;
// The most pages of a list to read. A longer list gives the outcome `unknown`. The caller looks for a fax that it sent
// only minutes ago, so the list should be short.
const maxPages = 10;

const unreadable: TelnyxFailure = { kind: "unknown", why: "an answer that says nothing of what was asked" };

/**
 * Creates the client for Telnyx's API.
 * @param call sends one request to `https://api.telnyx.com` or to the test double in its place
 */
export function createTelnyx(call: Call): Telnyx {
  async function ask<R>(request: Parameters<Call>[0], read: (body: unknown) => R | null): Promise<TelnyxResult<R>> {
    const outcome = await call(request);
    if (outcome.kind !== "answered") return outcome;
    const result = read(outcome.body);
    return result === null ? unreadable : { kind: "done", result };
  }
  const ofFax = (body: unknown) => faxOf(dataOf(body));

  async function listFaxes({ to, since }: { to: string; since: Date }): Promise<TelnyxResult<(TelnyxFax | null)[]>> {
    const faxes: (TelnyxFax | null)[] = [];
    for (let page = 1; page <= maxPages; page++) {
      const query = new URLSearchParams({
        "filter[to][eq]": to,
        "filter[created_at][gte]": since.toISOString(),
        "page[number]": String(page),
        "page[size]": String(pageSize),
      });
      const listed = await ask({ method: "GET", path: `/v2/faxes?${query}` }, faxesOf);
      if (listed.kind !== "done") return listed;
      const { faxes: onPage, pages } = listed.result;
      faxes.push(...onPage);
      // Without a page count, an empty page is the last one.
      if (pages === null ? onPage.length === 0 : page >= pages) return { kind: "done", result: faxes };
    }
    return { kind: "unknown", why: "the list of faxes does not end" };
  }

  return {
    sendFax: ({ app, from, to, pdf, clientState }) => {
      const form = new FormData();
      const params = { connection_id: app, from, to, client_state: clientState, quality: "high" };
      for (const [name, value] of Object.entries(params)) form.set(name, value);
      form.set("contents", new Blob([Uint8Array.from(pdf)], { type: "application/pdf" }), "document.pdf");
      return ask({ method: "POST", path: "/v2/faxes", body: form }, ofFax);
    },
    getFax: (id) => ask({ method: "GET", path: `/v2/faxes/${encodeURIComponent(id)}` }, ofFax),
    listFaxes,
    cancelFax: async (id) => {
      const path = `/v2/faxes/${encodeURIComponent(id)}/actions/cancel`;
      const outcome = await call({ method: "POST", path });
      return outcome.kind === "answered" ? { kind: "done", result: null } : outcome;
    },
    sendText: (message) =>
      ask({ method: "POST", path: "/v2/messages", body: JSON.stringify({ ...message, type: "SMS" }) }, (body) =>
        idOf(dataOf(body)),
      ),
  };
}
