import { inflateSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { encodePng, readPictureIn } from "../../../envelopes/envelopes.ts";
import { type Callers, principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import { readForm } from "../../../http/uploads/multipart.ts";
import type { UploadPlaces } from "../../../http/uploads/upload-places.ts";
import { changeLogo, type MemberDeps } from "../../../members/members.ts";
import { invalid } from "../../../platform/errors.ts";
import type { Workers } from "../../../platform/workers/task.ts";
import { done } from "../../ui/flash-messages.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { reauthenticate } from "../reauthenticate.ts";

export type LogoDeps = MemberDeps &
  Pick<Callers, "resolveSession"> & {
    limits: RateLimits;
    uploadPlaces: UploadPlaces;
    workers: Workers;
    baseUrl: string;
  };

const path = "/dashboard/settings";
const choose = "Logo must be one PNG or JPEG picture.";
const messages = { notMultipart: choose, tooLarge: choose, incomplete: choose };

const faults: Readonly<Record<string, string>> = {
  format: choose,
  size: "Logo has too many pixels: make it smaller, and choose it again.",
  empty: "Logo is of one color alone.",
};

/** Where an owner uploads the firm's logo. Its scope takes multipart forms. */
export function logoForm(
  app: FastifyInstance,
  deps: LogoDeps,
  refused: (call: PageCall, error: string) => Promise<string>,
): void {
  const authenticate = reauthenticate(deps);
  pageRoute(app, deps, {
    method: "POST",
    url: `${path}/logo`,
    policy: "partner-write",
    refused,
    handle: async ({ request }) => {
      const form = await readForm(request, { filePart: "logo", places: deps.uploadPlaces, messages, authenticate });
      try {
        const principal = principalOf(request);
        const { upload } = form;
        const draw = () => drawLogo(deps.workers, principal.partnerId, upload?.bytes ?? Buffer.alloc(0));
        await changeLogo(deps, principal, { draw, baseUrl: deps.baseUrl });
        return done(path, "logo-saved");
      } finally {
        form.release();
      }
    },
  });
}

async function drawLogo(workers: Workers, holder: string, bytes: Buffer): Promise<Uint8Array> {
  if (bytes.length === 0) throw invalid(choose);
  const picture = await readPictureIn(workers, { holder, bytes });
  if ("fault" in picture)
    throw invalid(faults[picture.fault] ?? "Logo can’t be read: save it anew as PNG, and choose it again.");
  return encodePng({ ...picture, rgba: inflateSync(picture.deflated) });
}
