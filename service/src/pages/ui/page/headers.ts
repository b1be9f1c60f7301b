/**
 * For a page with forms: other sites do not learn its address, but a browser names our origin when it sends the forms.
 */
export const formHeaders = {
  "Cache-Control": "no-store",
  "X-Robots-Tag": "noindex, nofollow",
  "Referrer-Policy": "same-origin",
};

/**
 * For a page whose address is a credential: caches and search engines must not store it, and no referrer passes it on.
 */
export const credentialHeaders = {
  "Cache-Control": "no-store",
  "X-Robots-Tag": "noindex, nofollow",
  "Referrer-Policy": "no-referrer",
};

/** For a page that is the same for everyone. */
export const publicHeaders = { "Cache-Control": "no-cache" };

/** For a room where people meet by audio and video: no other page may use camera and microphone. */
export const cameraHeaders = {
  "Permissions-Policy": "camera=(self), microphone=(self), display-capture=(), geolocation=()",
};

export const htmlType = "text/html; charset=utf-8";
