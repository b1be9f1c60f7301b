import { type Html, html } from "./render.ts";

/**
 * A stripe in a firm's color. It contains no text, so no color can make text unreadable. Our style sheet draws a border
 * around it, so that the stripe is visible on a background of the same color. Empty when `color` is not a color.
 */
export const accentStripe = (color: string | null | undefined): Html | "" =>
  color && /^#[0-9a-f]{6}$/i.test(color)
    ? html`<svg class="accent" width="100%" height="6" aria-hidden="true" focusable="false"><rect width="100%" height="6" fill="${color}"/></svg>`
    : "";

type Branding = { brandName: string | null; accentColor: string | null; logoUrl: string | null };

/** The URL of a firm's logo if it may be shown, with the origin that the page's content security policy must allow. */
export function logoOf(branding: Branding | null): { url: string; origin: string } | null {
  const url = URL.parse(branding?.logoUrl ?? "");
  // The host name goes into a content security policy. So only letters, digits, periods and hyphens are allowed, which
  // have no special meaning there.
  const isOpen = url?.protocol === "https:" && /^[a-z0-9.-]+$/.test(url.hostname);
  // Allows http only on the developer's own machine, where a logo may have been uploaded to a local service.
  const isHere = url?.protocol === "http:" && /^(?:localhost|127\.0\.0\.1)$/.test(url.hostname);
  return url && (isOpen || isHere) ? { url: url.href, origin: url.origin } : null;
}

/** The firm's name and logo. Our own logo stays on the page as well. */
export function attribution(
  partnerName: string | null,
  branding: Branding | null,
  preparedBy = "Prepared by",
): Html | "" {
  const name = branding?.brandName ?? partnerName;
  const logo = logoOf(branding);
  if (!name && !logo) return "";
  return html`<p class="attribution">${
    logo && html`<img src="${logo.url}" alt="" height="32" referrerpolicy="no-referrer">`
  }<span>${name ? html`${preparedBy} <strong>${name}</strong>` : ""}</span></p>`;
}
