import { inflateSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { changeLogo, type MemberDeps } from "../../../firms/members/members.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { readForm } from "../../../kernel/http/uploads/multipart.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import type { Workers } from "../../../kernel/platform/workers/task.ts";
import { encodePng, readPictureIn } from "../../../signing/envelopes/envelopes.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { done } from "../flash-messages.ts";
import type { DashboardFrame } from "../page-shell.ts";
import { reauthenticate } from "../reauthenticate.ts";

export type SettingsDeps = { frame: DashboardFrame; members: MemberDeps & { workers: Workers } };

const path = "/dashboard/settings";
const choose = "Logo must be one PNG or JPEG picture.";
const messages = { notMultipart: choose, tooLarge: choose, incomplete: choose };

const faults: Readonly<Record<string, string>> = {
  format: choose,
  size: "Logo has too many pixels: make it smaller, and choose it again.",
  empty: "Logo has only one color.",
};

/** Adds the form with which an owner uploads the firm's logo. Its routes accept multipart forms. */
export function logoForm(
  app: FastifyInstance,
  deps: SettingsDeps,
  refused: (call: PageCall, error: string) => Promise<string>,
): void {
  const authenticate = reauthenticate(deps.frame.callers);
  pageRoute(app, deps.frame, {
    method: "POST",
    url: `${path}/logo`,
    policy: "partner-write",
    refused,
    handle: async ({ request }) => {
      const form = await readForm(request, {
        filePart: "logo",
        places: deps.frame.uploadPlaces,
        messages,
        authenticate,
      });
      try {
        const principal = principalOf(request);
        const { upload } = form;
        const draw = () => drawLogo(deps.members.workers, principal.partnerId, upload?.bytes ?? Buffer.alloc(0));
        await changeLogo(deps.members, principal, { draw, baseUrl: deps.frame.baseUrl });
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
    throw invalid(faults[picture.fault] ?? "Logo can’t be read: save it again as a PNG, and choose it again.");
  return encodePng({ ...picture, rgba: inflateSync(picture.deflated) });
}
