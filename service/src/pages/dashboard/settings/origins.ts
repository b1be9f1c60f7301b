import type { FastifyInstance, FastifyRequest } from "fastify";
import { requireBrandOwner } from "../../../firms/members/members.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { addOrigin, type EmbedOrigin, removeOrigin } from "../../../signing/envelopes/envelopes.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { field } from "../../ui/forms/fields.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import type { SettingsDeps } from "./logo-forms.ts";

const path = "/dashboard/settings";

type Part = { origins: readonly EmbedOrigin[]; mayChange: boolean; isTest: boolean; typed: string | undefined };

/** The firm's sites that may show the signing page in a frame. */
export const originsPart = ({
  origins,
  mayChange,
  isTest,
  typed,
}: Part): Html => html`<p>Your own site can show the signing page in a frame. Each site is named here first; no other can show it.</p>
${
  origins.length === 0
    ? html`<p class="quiet">None yet.</p>`
    : html`<ul class="plain-list">${origins.map(
        ({ id, origin }) =>
          html`<li><code>${origin}</code> ${mayChange && buttonForm(`${path}/origins/${id}/remove`, "Remove", { kind: "quiet-button", about: origin })}</li>`,
      )}</ul>`
}
${
  mayChange
    ? html`<form class="form" method="post" action="${path}/origins">
${field({
  name: "origin",
  label: "Site",
  type: "url",
  value: typed,
  required: true,
  maxLength: 300,
  hint: isTest
    ? "For example https://app.example.com, or http://localhost:3000. No path, no wildcard."
    : "For example https://app.example.com. No path, no wildcard.",
})}
<div class="form-actions"><button type="submit" class="quiet-button">Add the site</button></div>
</form>`
    : html`<p class="quiet">Only owners of the firm can change this.</p>`
}`;

type Refused = (call: PageCall, error: string) => string | Promise<string>;

/** Adds the forms with which owners add and remove sites. */
export function originForms(forms: FastifyInstance, { frame, members }: SettingsDeps, refused: Refused): void {
  const form = { method: "POST", policy: "partner-write", refused } as const;
  const owner = async (request: FastifyRequest) => {
    await requireBrandOwner(members, principalOf(request));
    return principalOf(request);
  };
  pageRoute(forms, frame, {
    ...form,
    url: `${path}/origins`,
    handle: async ({ form: { origin }, request }) => {
      await addOrigin(members, await owner(request), origin);
      return done(`${path}#origins-title`, "origin-added");
    },
  });
  pageRoute(forms, frame, {
    ...form,
    url: `${path}/origins/:id/remove`,
    handle: async ({ params, request }) => {
      await removeOrigin(members, await owner(request), params.id);
      return done(`${path}#origins-title`, "origin-removed");
    },
  });
}
