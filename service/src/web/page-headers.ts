export const htmlType = "text/html; charset=utf-8";

/** Of a page whose address is a credential: it is kept by no cache and no index, and left by no referrer. */
export const credentialHeaders = {
  "Cache-Control": "no-store",
  "X-Robots-Tag": "noindex, nofollow",
  "Referrer-Policy": "no-referrer",
};
