import type { FastifyInstance } from "fastify";
import { roomEnvironment, roomView } from "../../closing/rooms/rooms.ts";
import { findLogo, logoPath } from "../../firms/partners/partners.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import type { RetentionPlan } from "../../kernel/retention/retention.ts";
import { logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { leavingPage } from "../ui/leaving-page.ts";
import { refreshingPolicy } from "../ui/page/policy.ts";
import type { PageAnswer } from "../ui/page/route.ts";
import { roomRetention } from "../ui/retention.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";
import { backToOrder, type Call, clientRoute, messagePage } from "./client-route.ts";
import { closingRoutes } from "./closing-page.ts";
import { deliveryRoutes } from "./delivery-page.ts";
import { type FillRoutesDeps, fillPages } from "./fill-routes.ts";
import { type OrderPageDeps, orderOf, orderRoutes } from "./order-routes.ts";
import { type RoomPageView, roomFragment, roomPage } from "./room-page.ts";

export type ClientDeps = OrderPageDeps & PaymentPageDeps & RoomPageDeps;

export type ClientParts = {
  rowMac: RowMac;
  /** Null when no forms can be filled in online. */
  fills: FillRoutesDeps["fills"] | null;
  /** True if the service has rooms in which people meet a notary by audio and video. */
  hasRooms: boolean;
};

/**
 * Adds the pages for clients of a firm: orders, payments, rooms, closings, online forms and deliveries. The secret in
 * the URL is the credential. Some deliveries also require a mailed code.
 */
export function clientPages(app: FastifyInstance, deps: ClientDeps, { rowMac, fills, hasRooms }: ClientParts): void {
  logoRoute(app, deps);
  orderRoutes(app, deps, hasRooms);
  closingRoutes(app, deps);
  paymentRoutes(app, deps);
  roomRoutes(app, deps, rowMac);
  if (fills) fillPages(app, { ...deps, fills });
  deliveryRoutes(app, deps);
}

/**
 * Serves the logos that firms uploaded. The URL contains the picture's hash, so browsers may cache the picture forever.
 */
function logoRoute(app: FastifyInstance, { db, limits }: { db: Sql; limits: RateLimits }): void {
  app.get<{ Params: { file: string } }>(
    `${logoPath}/:file`,
    { schema: { hide: true }, onRequest: limits.limit("page") },
    async (request, reply) => {
      const [, sha256] = /^([0-9a-f]{64})\.png$/.exec(request.params.file) ?? [];
      const png = sha256 === undefined ? undefined : await findLogo(db, sha256);
      if (!png) throw new ServiceError("not_found", "Not found.");
      reply.headers({
        "Cache-Control": "public, max-age=31536000, immutable",
        // Mail programs and firms' own sites load the logo from other origins.
        "Cross-Origin-Resource-Policy": "cross-origin",
      });
      return reply.type("image/png").send(png);
    },
  );
}

type PaymentPageDeps = {
  db: Sql;
  assets: Assets;
  limits: RateLimits;
  payments: OrderPageDeps["payments"];
};

/**
 * Adds the routes that open the processor's checkout, and the pages that are shown after the checkout. None of them
 * changes the order. Only a POST opens a checkout.
 */
function paymentRoutes(app: FastifyInstance, deps: PaymentPageDeps): void {
  const { db, assets, payments } = deps;

  for (const [path, urlOf] of [
    ["/orders/:code/checkout", payments.checkoutUrl],
    ["/orders/:code/checkout/together", payments.checkoutTogether],
  ] as const) {
    // A new checkout ends the previous one, so a GET must not open a checkout: mail scanners and link previews follow
    // links.
    clientRoute(app, deps, path, async ({ params: { code } }, reader) => {
      await orderOf(db, code);
      return { redirect: linkFor(reader, `/orders/${code}`) };
    });
    const open = async ({ params: { code }, request }: Call<typeof path>, reader: Reader): Promise<PageAnswer> => {
      await orderOf(db, code);
      try {
        return leavingPage(assets, reader, await urlOf(code));
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        request.log.warn({ reason: error.message, err: error.cause }, "no checkout for a payer");
        const back = error.code === "not_payable" ? "" : "/checkout/unavailable";
        return { redirect: linkFor(reader, `/orders/${code}${back}`) };
      }
    };
    clientRoute(app, deps, path, open, "POST");
  }

  // The pages after a payment for several orders. The URL names no order, because the payer may not be allowed to see
  // all of them.
  for (const name of ["returned", "cancelled"] as const)
    clientRoute(app, deps, `/checkout/${name}`, async (_, reader) =>
      messagePage(assets, null, reader, reader.words.payment[name]),
    );

  for (const name of ["returned", "cancelled", "unavailable"] as const)
    clientRoute(app, deps, `/orders/:code/checkout/${name}`, async ({ params: { code } }, reader) => {
      await orderOf(db, code);
      return messagePage(assets, backToOrder(code, reader), reader, reader.words.payment[name]);
    });
}

type RoomPageDeps = {
  db: Sql;
  assets: Assets;
  limits: RateLimits;
  retention: RetentionPlan;
  baseUrl: string;
};

/** `/rooms/{code}`, and the part of the page that refreshes itself. */
function roomRoutes(app: FastifyInstance, deps: RoomPageDeps, rowMac: RowMac): void {
  const { db, assets, baseUrl } = deps;

  clientRoute(app, deps, "/rooms/:code", async ({ params, query }, reader) => {
    const room = await find(params.code, query["activity"] === "all", reader);
    return withPolicy(room, roomPage(assets, room, baseUrl, reader));
  });
  clientRoute(app, deps, "/rooms/:code/status", async ({ params, query }, reader) => {
    const room = await find(params.code, query["activity"] === "all", reader);
    return withPolicy(room, roomFragment(room, reader));
  });

  async function find(code: string, allActivity: boolean, { words }: Reader): Promise<RoomPageView> {
    const [room, environment] = await Promise.all([roomView({ db, rowMac }, code), roomEnvironment(db, code)]);
    if (!room || !environment) throw new ServiceError("not_found", "Room not found.");
    return { ...room, environment, retention: roomRetention(deps.retention, environment, words), allActivity };
  }
}

function withPolicy({ branding }: RoomPageView, page: string): PageAnswer {
  const logo = logoOf(branding);
  return { page, headers: { "Content-Security-Policy": refreshingPolicy(logo ? [logo.origin] : []) } };
}
