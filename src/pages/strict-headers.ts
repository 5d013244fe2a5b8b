/**
 * Headers of a page that allows this server's files and requests alone, no inline script or style, no HTML made of strings, and framing by the
 * given sites (`'none'`, `*`).
 */
export const strictHeaders = (frameAncestors: string) => ({
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "media-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    `frame-ancestors ${frameAncestors}`,
  ].join("; "),
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-cache",
})
