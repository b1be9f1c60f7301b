import type { FastifyRequest } from "fastify";
import { principalOf } from "../../http/authentication.ts";
import { accountNav } from "../ui/account-nav.ts";
import type { AssetName, Assets } from "../ui/assets/assets.ts";
import { flashOf } from "../ui/flash-messages.ts";
import { layout } from "../ui/layout.ts";
import { type Html, html } from "../ui/render.ts";
import { type Section, sideNav } from "./nav.ts";
import { failingBanner } from "./webhooks/failing-banner.ts";

export type DashboardPage = {
  title: string;
  section: Section;
  body: Html;
  /** Of a list, which takes the width that there is. */
  wide?: boolean;
  scripts?: readonly Extract<AssetName, `${string}.js`>[];
};

/** A page of the dashboard in its frame; what was just done is said on top of it. */
export function dashboardPage(
  { assets }: { assets: Assets },
  request: FastifyRequest,
  { title, section, body, wide = false, scripts = [] }: DashboardPage,
): string {
  const principal = principalOf(request);
  return layout(assets, {
    title,
    headerNav: accountNav(principal.member?.email ?? ""),
    side: sideNav(principal, section, request.url),
    body: html`${flashOf(request)}${failingBanner(request)}${body}`,
    scripts,
    wide,
  });
}
