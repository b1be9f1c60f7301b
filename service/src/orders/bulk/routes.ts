import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf, requireKey } from "../../kernel/http/authentication.ts";
import { jsonRoute, optionalText, type RouteDeps } from "../../kernel/http/route.ts";
import { readForm } from "../../kernel/http/uploads/multipart.ts";
import type { UploadPlaces } from "../../kernel/http/uploads/upload-places.ts";
import { type BulkDeps, cancelBulk, createBulk, ownBulk, retryBulk, rowPage } from "./create.ts";
import { placeRows } from "./place.ts";
import { BulkAnswer, BulkProgress, BulkRow, BulkRows, bulkFormSchema } from "./schemas.ts";
import type { Bulk } from "./store.ts";

type Deps = { frame: RouteDeps; bulk: BulkDeps; uploadPlaces: UploadPlaces };

const path = "/api/partner/bulk";
const common = { tag: "Bulk", caller: "key", policy: "partner-write" } as const;
const params = Type.Object({ bulkId: Type.String({ description: "The bulk's id." }) });
const unknown = { 404: "Bulk not found." };
const messages = {
  notMultipart: "file is required: send the bulk as multipart/form-data.",
  tooLarge: "file must have at most 5 MB.",
  incomplete: "The form is cut off or malformed.",
};

const progressOf = ({ createdAt, ...bulk }: Bulk, requestId: string) => ({
  ...bulk,
  createdAt: createdAt.toISOString(),
  requestId,
});

/** Routes for bulk orders: many orders from one template. The contract doesn't have them. */
export function bulkRoutes(app: FastifyInstance, { frame, bulk, uploadPlaces }: Deps): void {
  app.addSchema(BulkRow);
  uploadRoute(app, { frame, bulk, uploadPlaces });
  readRoutes(app, { frame, bulk });
  actRoutes(app, { frame, bulk });
}

function uploadRoute(app: FastifyInstance, { frame, bulk, uploadPlaces }: Deps): void {
  jsonRoute(app, frame, {
    ...common,
    method: "POST",
    scope: "orders",
    url: path,
    operationId: "createBulk",
    summary: "Send a bulk",
    description:
      "Reads a CSV file of people and values, and checks every row. Nothing is ordered yet. When a row is refused, nothing is stored, and the answer says what is wrong. The same file sent again is the same bulk.",
    form: { schema: bulkFormSchema, notForm: messages.notMultipart },
    answer: BulkAnswer,
    refusals: { 400: "file must have the column Buyer.email." },
    handle: async (request) => {
      const authenticate = requireKey(frame.resolveKey);
      const form = await readForm(request, { filePart: "file", places: uploadPlaces, messages, authenticate });
      try {
        return { ...(await createBulk(bulk, principalOf(request), form)), requestId: request.id };
      } finally {
        form.release();
      }
    },
  });
}

function readRoutes(app: FastifyInstance, { frame, bulk }: Omit<Deps, "uploadPlaces">): void {
  jsonRoute(app, frame, {
    ...common,
    method: "GET",
    scope: "read",
    url: `${path}/:bulkId`,
    operationId: "getBulk",
    summary: "Get a bulk",
    description: "How many of its rows wait, are placed, failed or canceled.",
    params,
    answer: BulkProgress,
    refusals: unknown,
    handle: async (request) => progressOf(await ownBulk(bulk, principalOf(request), request.params.bulkId), request.id),
  });
  jsonRoute(app, frame, {
    ...common,
    method: "GET",
    scope: "read",
    url: `${path}/:bulkId/rows`,
    operationId: "listBulkRows",
    summary: "List the rows of a bulk",
    description: "Where each row stands, with its order or the reason of its refusal, a page at a time.",
    params,
    query: Type.Object({
      limit: optionalText("How many to answer: 1 to 500, default 100. Values outside are clamped.", "100"),
      cursor: optionalText("`nextCursor` of the previous page."),
    }),
    answer: BulkRows,
    refusals: { ...unknown, 400: "limit must be sent once." },
    handle: async (request) => ({
      ...(await rowPage(bulk, principalOf(request), request.params.bulkId, request.query)),
      requestId: request.id,
    }),
  });
}

const acts = [
  {
    name: "place",
    act: placeRows,
    summary: "Place the rows of a bulk",
    description:
      "Places up to 100 rows that wait, for at most ten seconds, and answers how far the bulk is: send it again until `waiting` is 0. A row and its order are written together, so a request that is repeated places nothing twice.",
  },
  {
    name: "retry",
    act: retryBulk,
    summary: "Retry the failed rows of a bulk",
    description: "Failed rows wait again; place them after that.",
  },
  {
    name: "cancel",
    act: cancelBulk,
    summary: "Cancel the rest of a bulk",
    description: "Rows that are not placed are discarded, and their personal data is deleted. Placed orders continue.",
  },
] as const;

function actRoutes(app: FastifyInstance, { frame, bulk }: Omit<Deps, "uploadPlaces">): void {
  for (const { name, act, summary, description } of acts)
    jsonRoute(app, frame, {
      ...common,
      method: "POST",
      scope: "orders",
      url: `${path}/:bulkId/${name}`,
      operationId: `${name}Bulk`,
      summary,
      description,
      params,
      bodyIs: "none",
      answer: BulkProgress,
      refusals: unknown,
      handle: async (request) => progressOf(await act(bulk, principalOf(request), request.params.bulkId), request.id),
    });
}
