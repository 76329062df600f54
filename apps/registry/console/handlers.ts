import {
  type Assets,
  answerWith,
  assetAddress,
  assetRoutes,
  compressedRepresentationOf,
  hidden,
  once,
  type PageBundle,
  REVALIDATE,
  representationOf,
} from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";

/** The path of the console; its assets have paths below this one. */
export const CONSOLE_PAGE = "/console";

const SCRIPT = "console.js";
const STYLE = "console.css";

/**
 * The security headers of the console, which holds a token and shows text from users. The page runs
 * its own script only, calls its own origin only, cannot be framed, and cannot turn text into markup.
 */
const HEADERS = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/** Serves `/console` (RG-97). The page needs no token: it asks for the token, and sends it with each call. */
export function consoleHandlers(bundle: () => Promise<PageBundle>) {
  const assets = once(async () => assetsOf(await bundle()));
  const html = once(async () => representationOf(page(await assets()), "text/html; charset=utf-8"));
  return new Elysia({ name: "console", normalize: false })
    .get(
      CONSOLE_PAGE,
      async ({ request }) => {
        const response = answerWith(request, await html(), REVALIDATE);
        for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value);
        return response;
      },
      hidden,
    )
    .use(assetRoutes(CONSOLE_PAGE, assets));
}

async function assetsOf({ script, style }: PageBundle): Promise<Assets> {
  return new Map([
    [SCRIPT, await compressedRepresentationOf(script, "text/javascript; charset=utf-8")],
    [STYLE, await compressedRepresentationOf(style, "text/css; charset=utf-8")],
  ]);
}

/** The logo, an arch with a keyhole, in the accent color of the page. */
const ICON = encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M5 29V15a11 11 0 0 1 22 0v14z" fill="#0b5f59"/><circle cx="16" cy="15" r="3.6" fill="#fff"/><path d="M14.4 16.5h3.2l1 8h-5.2z" fill="#fff"/></svg>`,
);

function page(assets: Assets): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Ostiary console</title>
    <link rel="icon" href="data:image/svg+xml,${ICON}">
    <link rel="stylesheet" href="${assetAddress(CONSOLE_PAGE, STYLE, assets)}">
    <script type="module" src="${assetAddress(CONSOLE_PAGE, SCRIPT, assets)}"></script>
  </head>
  <body>
    <noscript>The console needs JavaScript. The same is done by the command line: bun cli --help.</noscript>
    <div id="console"></div>
  </body>
</html>
`;
}
