import type { FastifyRequest } from "fastify";
import { type Callers, principalOf } from "../../../../http/authentication.ts";
import type { RateLimits } from "../../../../http/rate-limits.ts";
import type { Form } from "../../../../http/uploads/multipart.ts";
import type { UploadPlaces } from "../../../../http/uploads/upload-places.ts";
import type { Principal } from "../../../../identity/identity.ts";
import { type OrderDeps, placeOrder, type TitleOf } from "../../../../orders/orders.ts";
import { ServiceError } from "../../../../platform/errors.ts";
import type { Assets } from "../../../ui/assets/assets.ts";
import { done } from "../../../ui/flash-messages.ts";
import type { PageAnswer } from "../../../ui/page/route.ts";
import { attachTitled } from "../../rooms/attach.ts";
import { inOurWords, requireSameEnvironment, submissionKey } from "../../submit-once.ts";
import { anotherPath } from "./another.ts";
import { withSigners } from "./signer-rows.ts";

export type OrderNewDeps = OrderDeps &
  Pick<Callers, "resolveSession"> & {
    limits: RateLimits;
    uploadPlaces: UploadPlaces;
    assets: Assets;
    titleOf: TitleOf;
  };

export const path = "/dashboard/orders";

/** Places what the form asks for, and puts it into the room that was chosen. */
export async function place(deps: OrderNewDeps, request: FastifyRequest, sent: Form): Promise<PageAnswer> {
  // A browser sends an empty file where none was chosen.
  const upload = sent.upload?.bytes.length === 0 ? null : sent.upload;
  // One that is chosen now is meant instead of the one that was kept; either button places the same order.
  const unmeant = upload === null ? ["next"] : ["next", "fill_token"];
  const fields = new Map([...sent.fields].filter(([name]) => !unmeant.includes(name)));
  requireSameEnvironment(request, fields.get("environment"));
  const form = { fields: withSigners(fields), upload, documentName: fields.get("document_name") };
  const idempotencyKey = submissionKey(fields, upload?.sha256 ?? null);
  const wanted = { principal: principalOf(request), sent: form, route: `POST ${path}/new`, idempotencyKey };
  const { body } = await placeOrder(deps, wanted, wording).catch(
    inOurWords("This order is already being placed. Check your orders in a moment."),
  );
  const [orderCode = "", checkoutUrl] = body.split(" ");
  const lacksCheckout = fields.get("create_checkout") === "on" && checkoutUrl === undefined;
  const isInRoom = await putIntoRoom(deps, principalOf(request), fields.get("room") ?? "", orderCode);
  const message = lacksCheckout ? "order-placed-unpayable" : "order-placed";
  const after = sent.fields.get("next") === "another" ? anotherPath(orderCode) : `${path}/${orderCode}`;
  return done(after, isInRoom ? message : "order-placed-outside");
}

/** Whether the order is in the room that was chosen for it; it is placed in any case. */
async function putIntoRoom(
  deps: OrderNewDeps,
  principal: Principal,
  room: string,
  orderCode: string,
): Promise<boolean> {
  if (room === "") return true;
  try {
    await attachTitled(deps, principal, room, { orderCode });
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError)) deps.log.error({ err: error }, "a placed order was not put into its room");
    return false;
  }
}

/** The order's code, and its checkout where it has one. */
const wording = {
  status: 303,
  bodyOf: (order: { code: string }) => order.code,
  async withCheckout(code: string, mint: (code: string) => Promise<string | null>) {
    const url = await mint(code);
    return url === null ? code : `${code} ${url}`;
  },
};
