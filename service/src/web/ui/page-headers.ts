/** Of a page with forms: its address stays with us, but a browser names our origin when it sends them. */
export const formHeaders = {
  "Cache-Control": "no-store",
  "X-Robots-Tag": "noindex, nofollow",
  "Referrer-Policy": "same-origin",
};

export const htmlType = "text/html; charset=utf-8";

/** Of a page whose address is a credential: it is kept by no cache and no index, and left by no referrer. */
export const credentialHeaders = {
  "Cache-Control": "no-store",
  "X-Robots-Tag": "noindex, nofollow",
  "Referrer-Policy": "no-referrer",
};
