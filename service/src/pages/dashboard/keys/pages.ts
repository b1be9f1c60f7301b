import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  createOwnKey,
  findOwnKey,
  listOwnKeys,
  type OwnKeyDeps,
  revokeOwnKey,
  rotateOwnKey,
} from "../../../firms/members/members.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { card, codeText, notice, pageHead } from "../../ui/components.ts";
import { plainTime } from "../../ui/format.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { dashboardPage } from "../page-shell.ts";
import { submissionFor, submitOnce } from "../submit-once.ts";
import { keyBody } from "./detail.ts";
import { chosenScopes, type KeysView, keysBody } from "./list.ts";
import { keyTitle } from "./words.ts";

export type KeyPagesDeps = OwnKeyDeps & { assets: Assets; limits: RateLimits };

const path = "/dashboard/keys";

/** Adds the pages of the firm's keys. Owners manage keys here; no API key can create another. */
export function keyPages(forms: FastifyInstance, deps: KeyPagesDeps): void {
  pageRoute(forms, deps, { url: path, handle: ({ request }) => show(request) });

  pageRoute(forms, deps, {
    method: "POST",
    url: path,
    handle: async ({ form, request }) => {
      const { name = "", keyEnvironment: environment = "", expires = "" } = form;
      const { created: newKey } = await submitOnce(deps, request, {
        fields: new Map(Object.entries(form)),
        make: () =>
          createOwnKey(deps, principalOf(request), { name, environment, expires, scopes: chosenScopes(form) }),
        nameOf: ({ keyId }) => keyId,
      });
      if (!newKey) return done(path, "key-there");
      return keyPage(deps, request, { ...newKey, title: name.trim(), now: deps.clock(), previousExpiresAt: null });
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
      const { created: newKey } = await submitOnce(deps, request, {
        fields: new Map([...Object.entries(form), ["key", keyId]]),
        make: () => rotateOwnKey(deps, principal, keyId, form["overlap"] ?? ""),
        nameOf: (rotated) => rotated.keyId,
      });
      if (!newKey) return done(path, "key-rotated-before");
      return keyPage(deps, request, { ...newKey, title: keyTitle(key), now: deps.clock() });
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

type NewKey = {
  now: Date;
  keyId: string;
  key: string;
  title: string;
  /** When the previous key stops working; null when there was no previous key. */
  previousExpiresAt: Date | null;
};

/**
 * The page with a new key. The key is shown only in the response that created it: no page links to it, and no cache
 * stores it.
 */
function keyPage(deps: { assets: Assets }, request: FastifyRequest, newKey: NewKey): string {
  const { keyId, key, title, now, previousExpiresAt } = newKey;
  const isOver = previousExpiresAt !== null && previousExpiresAt <= now;
  const before = isOver
    ? "The previous key no longer works."
    : previousExpiresAt && html`The previous key works until ${plainTime(previousExpiresAt)}.`;
  const body = html`${pageHead(previousExpiresAt ? "Your new key" : "Your key was created", title)}
<div class="panels">
${notice("attention", "Copy the key now", "This is the only time it is shown. We cannot show it again.")}
${card("secret", "API key", html`${codeText(key, "API key")}${before && html`<p class="after-notice">${before}</p>`}`)}
<div class="form-actions"><a class="button" href="/dashboard/keys/${keyId}">I saved it. Go to the key</a></div>
</div>`;
  return dashboardPage(deps, request, { title: "API key", section: "keys", body, scripts: ["copy.js"] });
}
