import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import {
  createOwnKey,
  findOwnKey,
  listOwnKeys,
  type OwnKeyDeps,
  revokeOwnKey,
  rotateOwnKey,
} from "../../../members/members.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { done } from "../../ui/flash-messages.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { dashboardPage } from "../page-shell.ts";
import { submissionFor, submitOnce } from "../submit-once.ts";
import { keyBody } from "./detail.ts";
import { chosenScopes, type KeysView, keysBody } from "./list.ts";
import { keyPage } from "./secret.ts";
import { keyTitle } from "./words.ts";

export type KeyPagesDeps = OwnKeyDeps & { assets: Assets; limits: RateLimits };

const path = "/dashboard/keys";

/** The firm's keys: people manage them here, and no key makes another. */
export function keyPages(forms: FastifyInstance, deps: KeyPagesDeps): void {
  pageRoute(forms, deps, { url: path, handle: ({ request }) => show(request) });

  pageRoute(forms, deps, {
    method: "POST",
    url: path,
    handle: async ({ form, request }) => {
      const { name = "", keyEnvironment: environment = "", expires = "" } = form;
      const { made } = await submitOnce(deps, request, {
        fields: new Map(Object.entries(form)),
        make: () =>
          createOwnKey(deps, principalOf(request), { name, environment, expires, scopes: chosenScopes(form) }),
        nameOf: ({ keyId }) => keyId,
      });
      if (!made) return done(path, "key-there");
      return keyPage(deps, request, { ...made, title: name.trim(), now: deps.clock(), previousExpiresAt: null });
    },
    refused: ({ form: typed, request }, error) =>
      show(request, {
        error: error.replace(/^scopes must be.*$/, "Tick at least one box, or choose Everything."),
        typed,
      }),
  });

  onePage(forms, deps);

  async function show(request: FastifyRequest, problem: Pick<KeysView, "error" | "typed"> = {}): Promise<string> {
    const principal = principalOf(request);
    const keys = await listOwnKeys(deps, principal);
    const view = { ...submissionFor(request, problem.typed), principal, keys, now: deps.clock(), ...problem };
    return dashboardPage(deps, request, { title: "API keys", section: "keys", body: keysBody(view) });
  }
}

function onePage(forms: FastifyInstance, deps: KeyPagesDeps): void {
  pageRoute(forms, deps, { url: `${path}/:keyId`, handle: ({ params, request }) => show(request, params.keyId) });

  pageRoute(forms, deps, {
    method: "POST",
    url: `${path}/:keyId/rotate`,
    handle: async ({ params: { keyId }, form, request }) => {
      const principal = principalOf(request);
      const key = await findOwnKey(deps, principal, keyId);
      const { made } = await submitOnce(deps, request, {
        fields: new Map([...Object.entries(form), ["key", keyId]]),
        make: () => rotateOwnKey(deps, principal, keyId, form["overlap"] ?? ""),
        nameOf: (rotated) => rotated.keyId,
      });
      if (!made) return done(path, "key-rotated-before");
      return keyPage(deps, request, { ...made, title: keyTitle(key), now: deps.clock() });
    },
    refused: ({ params, request }, error) => show(request, params.keyId, error),
  });

  pageRoute(forms, deps, {
    method: "POST",
    url: `${path}/:keyId/revoke`,
    handle: async ({ params: { keyId }, request }) => {
      await revokeOwnKey(deps, principalOf(request), keyId);
      return done(`${path}/${keyId}`, "key-revoked");
    },
  });

  async function show(request: FastifyRequest, keyId: string, error?: string): Promise<string> {
    const principal = principalOf(request);
    const key = await findOwnKey(deps, principal, keyId);
    const keys = await listOwnKeys(deps, principal);
    const successor = keys.find(({ replaces }) => replaces === keyId)?.keyId ?? null;
    const { submission } = submissionFor(request);
    const body = keyBody({ key, successor, now: deps.clock(), submission, ...(error !== undefined && { error }) });
    return dashboardPage(deps, request, { title: keyTitle(key), section: "keys", body });
  }
}
