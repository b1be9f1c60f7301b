/**
 * Headers for a page with forms. When the page links or sends a form to our own site, the browser names our origin.
 * Other sites get neither the URL nor the origin.
 */
export const formHeaders = {
  "Cache-Control": "no-store",
  "X-Robots-Tag": "noindex, nofollow",
  "Referrer-Policy": "same-origin",
};

/**
 * Headers for a page whose URL is a credential: caches and search engines must not store the page, and no referrer
 * contains the URL.
 */
export const credentialHeaders = {
  "Cache-Control": "no-store",
  "X-Robots-Tag": "noindex, nofollow",
  "Referrer-Policy": "no-referrer",
};

/** Headers for a page that is the same for everyone. */
export const publicHeaders = { "Cache-Control": "no-cache" };

/**
 * Headers for a page with a room, or with a device check. They allow camera and microphone, which no other page may
 * use.
 */
export const cameraHeaders = {
  "Permissions-Policy": "camera=(self), microphone=(self), display-capture=(), geolocation=()",
};

export const htmlType = "text/html; charset=utf-8";
