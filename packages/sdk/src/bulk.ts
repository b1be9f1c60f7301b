import { wireName } from "./names.ts";
import { path, type Transport } from "./transport.ts";

/** A bulk order, and its progress. */
export type BulkProgress = {
  bulkId: string;
  templateId: string;
  version: number;
  /** The time when the bulk order was created: ISO 8601, UTC. */
  createdAt: string;
  rows: number;
  waiting: number;
  placed: number;
  failed: number;
  canceled: number;
  requestId: string;
};

export type BulkAnswer = {
  /** The id of the new bulk order. Null when a row was refused; then nothing was stored. */
  bulkId: string | null;
  rows: number;
  /** The price of all rows, in US cents. Null when a row was refused, or when a person has to price a row. */
  totalCents: number | null;
  /** The first 200 refusals, each with its row and the reason. One row can have several. */
  errors: { row: number; message: string }[];
  requestId: string;
};

export type BulkRow = {
  /** The row's number, counted from 1. The line of column names is not counted. */
  row: number;
  state: "waiting" | "placed" | "failed" | "canceled";
  orderCode: string | null;
  reason: string | null;
};

export type BulkRows = { rows: BulkRow[]; nextCursor: string | null; requestId: string };

/** The fields of a bulk order. `signerState`, `faxTo` and `externalReference` apply to the rows that state none. */
export type BulkFields = {
  template: string;
  /** The version of the template. Default: the latest. */
  templateVersion?: number | undefined;
  /** Your statement that the documents are completed and belong to the clients. */
  byodConfirmed: true;
  signerState?: string | undefined;
  faxTo?: string | undefined;
  externalReference?: string | undefined;
};

export function bulkOf(transport: Transport) {
  const { json } = transport;
  const place = (bulkId: string): Promise<BulkProgress> => json("POST", path`/api/partner/bulk/${bulkId}/place`);
  return {
    /**
     * Checks every row of a CSV file, but places no orders yet. If you send the same file again, you get the same bulk
     * order, unless all its rows were canceled.
     */
    create: async (fields: BulkFields, file: Blob | Uint8Array<ArrayBuffer> | string): Promise<BulkAnswer> => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields))
        if (value !== undefined) form.append(wireName(name), String(value));
      form.append("file", file instanceof Blob ? file : new Blob([file], { type: "text/csv" }), "people.csv");
      return json("POST", "/api/partner/bulk", { body: form });
    },

    get: (bulkId: string): Promise<BulkProgress> => json("GET", path`/api/partner/bulk/${bulkId}`),

    /** One page of rows, in the order of the file. */
    rows: (
      bulkId: string,
      query: { limit?: number | undefined; cursor?: string | undefined } = {},
    ): Promise<BulkRows> => json("GET", path`/api/partner/bulk/${bulkId}/rows`, { query }),

    /** Places up to 100 of the waiting rows as orders. */
    place,

    /**
     * Places all waiting rows as orders, one request after another.
     * @param onProgress called after each request
     */
    placeAll: async (
      bulkId: string,
      onProgress: (progress: BulkProgress) => void = () => {},
    ): Promise<BulkProgress> => {
      for (;;) {
        const progress = await place(bulkId);
        onProgress(progress);
        if (progress.waiting === 0) return progress;
        // A key may send 60 requests a minute, so the client waits one second between requests.
        await transport.pause(1_000);
      }
    },

    /** Puts failed rows back in the queue, so that you can place them again. */
    retry: (bulkId: string): Promise<BulkProgress> => json("POST", path`/api/partner/bulk/${bulkId}/retry`),

    /** Cancels the rows that are not placed yet. */
    cancel: (bulkId: string): Promise<BulkProgress> => json("POST", path`/api/partner/bulk/${bulkId}/cancel`),
  };
}
