import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Callers, principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import { type Form, readForm } from "../../../http/uploads/multipart.ts";
import type { UploadMemory } from "../../../http/uploads/upload-memory.ts";
import { type OrderDeps, placeOrder } from "../../../orders/orders.ts";
import type { Assets } from "../../ui/assets.ts";
import { attempt, done, sendPage } from "../page-shell.ts";
import { memberAgain } from "../reauthenticate.ts";
import { creating, inOurWords, requireSameEnvironment, submissionKey } from "../submit-once.ts";
import { type OrderFormView, orderFormBody } from "./form.ts";

export type OrderNewDeps = OrderDeps &
  Pick<Callers, "resolveSession"> & { limits: RateLimits; uploadMemory: UploadMemory; assets: Assets };

const path = "/dashboard/orders";
const hidden = { schema: { hide: true } };
const messages = {
  notMultipart: "The form could not be read. Please fill it in again.",
  tooLarge: "document must be a PDF of at most 35 MB.",
  incomplete: "The form was cut off on its way. Please send it again.",
};

/** Where an order is placed by hand, by the rules of `POST /api/partner/orders`. Its scope takes multipart forms. */
export function orderNewPage(app: FastifyInstance, deps: OrderNewDeps): void {
  const { limits, pricing, uploadMemory } = deps;
  const authenticate = memberAgain(deps);
  const show = (request: FastifyRequest, reply: FastifyReply, refused?: OrderFormView["refused"]) => {
    const body = orderFormBody({
      ...creating(request, refused?.values),
      pricing,
      paymentsConfigured: deps.checkoutUrlOf !== null,
      ...(refused && { refused }),
    });
    const title = refused ? "Please check the form: place an order" : "Place an order";
    return sendPage(deps, request, reply, { title, section: "orders", body });
  };

  app.get(`${path}/new`, hidden, async (request, reply) => show(request, reply));

  app.post(`${path}/new`, { ...hidden, onRequest: limits.limit("partner-write") }, (request, reply) => {
    const typed = new Map<string, string>();
    return attempt(
      reply,
      async () => {
        const rules = { filePart: "document", memory: uploadMemory, messages, typed, authenticate };
        const form = await readForm(request, rules);
        try {
          return await place(request, reply, form);
        } finally {
          form.release();
        }
      },
      (message) => show(request, reply, { values: Object.fromEntries(typed), message }),
    );
  });

  async function place(request: FastifyRequest, reply: FastifyReply, sent: Form): Promise<FastifyReply> {
    const principal = principalOf(request);
    const { fields } = sent;
    requireSameEnvironment(request, fields.get("environment"));
    // A browser sends an empty file where none was chosen.
    const form = sent.upload?.bytes.length === 0 ? { ...sent, upload: null } : sent;
    const key = submissionKey(fields, form.upload?.sha256 ?? null);
    const wanted = { principal, sent: form, route: `POST ${path}/new`, idempotencyKey: key };
    const { body } = await placeOrder(deps, wanted, wording).catch(
      inOurWords("This order is just being placed. See the list of orders in a moment."),
    );
    const [orderCode = "", checkoutUrl] = body.split(" ");
    const lacksCheckout = fields.get("create_checkout") === "on" && checkoutUrl === undefined;
    return done(reply, `${path}/${orderCode}`, lacksCheckout ? "order-placed-unpayable" : "order-placed");
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
