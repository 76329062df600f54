import { Elysia } from "elysia";
import { type Assets, assetAddress, assetIntegrity, assetRoutes, hidden, once } from "./page-assets.ts";
import { compressedRepresentationOf, REVALIDATE, representationOf, respondWith } from "./representation.ts";

/** A web page with one script and one style sheet, such as the console. */
interface AppPage {
  /** Also the id of the element into which the script renders. */
  name: string;
  /** The URL paths of the page. Its assets are served below the first path. */
  paths: readonly [string, ...string[]];
  title: string;
  /** The text for browsers that do not run scripts. */
  noscript: string;
  /** The text that the page shows until its script runs. */
  waiting?: string;
  icon: string;
  /** Other origins that the page may call, such as the origin of the identity provider. */
  origins?: readonly string[];
  settings?: unknown;
  /** Builds the page's other files. A style sheet among them is linked last. */
  moreAssets?: () => Promise<Assets>;
  /** The Trusted Types policies that the script creates, such as one for the URL of a worker. */
  policies?: readonly string[];
  bundle: () => Promise<PageBundle>;
}

/**
 * The page holds a credential and shows texts by other authors. It runs only its own script, calls only its own origin
 * and `origins`, cannot be framed, and cannot turn text into markup.
 */
function headersOf({ origins = [], policies = [], moreAssets }: AppPage): Readonly<Record<string, string>> {
  return {
    "Content-Security-Policy": [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      ["connect-src 'self'", ...origins].join(" "),
      moreAssets === undefined ? "img-src data:" : "img-src 'self' data:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      `trusted-types ${policies.length === 0 ? "'none'" : policies.join(" ")}`,
    ].join("; "),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  };
}

export function appPage(options: AppPage) {
  const [path] = options.paths;
  const headers = headersOf(options);
  const assets = once(() => assetsOf(options));
  const html = once(async () =>
    representationOf(htmlOf(options, await assets()), "text/html; charset=utf-8"),
  );
  const app = new Elysia({ name: options.name, normalize: false }).use(assetRoutes(path, assets));
  for (const each of options.paths) {
    app.get(each, async ({ request }) => respondWith(request, await html(), REVALIDATE, headers), hidden);
  }
  return app;
}

async function assetsOf({ name, bundle, moreAssets }: AppPage): Promise<Assets> {
  const { script, style } = await bundle();
  return new Map([
    [`${name}.css`, await compressedRepresentationOf(style, "text/css; charset=utf-8")],
    [`${name}.js`, await compressedRepresentationOf(script, "text/javascript; charset=utf-8")],
    ...((await moreAssets?.()) ?? []),
  ]);
}

function htmlOf({ name, paths, title, noscript, waiting, icon, settings }: AppPage, assets: Assets): string {
  const [path] = paths;
  const link = (file: string) =>
    `${assetAddress(path, file, assets)}" integrity="${assetIntegrity(file, assets)}`;
  const styles = [...assets.keys()].filter((file) => file.endsWith(".css"));
  const data = settings === undefined ? "" : ` data-settings="${Bun.escapeHTML(JSON.stringify(settings))}"`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${Bun.escapeHTML(title)}</title>
    <link rel="icon" href="${Bun.escapeHTML(icon)}">
${styles.map((file) => `    <link rel="stylesheet" href="${link(file)}">\n`).join("")}    <script type="module" src="${link(`${name}.js`)}"></script>
  </head>
  <body>
    <noscript>${Bun.escapeHTML(noscript)}</noscript>
    <div id="${name}"${data}>${waiting === undefined ? "" : `<p>${Bun.escapeHTML(waiting)}</p>`}</div>
  </body>
</html>
`;
}

/** The logo as a data URL: an arch with a keyhole, in the accent color of the pages. */
export const OSTIARY_ICON = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M5 29V15a11 11 0 0 1 22 0v14z" fill="#0b5f59"/><circle cx="16" cy="15" r="3.6" fill="#fff"/><path d="M14.4 16.5h3.2l1 8h-5.2z" fill="#fff"/></svg>`,
)}`;

export interface PageBundle {
  readonly script: string;
  readonly style: string;
}

/**
 * `entry` is the page's script, which imports its styles. Bundling takes a few hundred milliseconds, so it runs at the
 * first request for the page, or when an executable is built.
 */
export async function bundlePage(entry: string): Promise<PageBundle> {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: "browser",
    minify: true,
    jsx: { runtime: "automatic", importSource: "preact", development: false },
  });
  const text = async (type: string) => {
    const parts = outputs.filter((output) => output.type.startsWith(type)).map((output) => output.text());
    return (await Promise.all(parts)).join("\n");
  };
  const [script, style] = await Promise.all([text("text/javascript"), text("text/css")]);
  return { script, style };
}
