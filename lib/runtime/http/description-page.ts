import { join } from "node:path";
import { type AnyElysia, Elysia } from "elysia";
import { shippedFile } from "../shipped-files.ts";
import { DESCRIPTION_PATH, openApiDescription, type SwaggerOptions } from "./openapi.ts";
import { type Assets, assetAddress, assetRoutes, hidden, once } from "./page-assets.ts";
import { compressedRepresentationOf, REVALIDATE, representationOf, respondWith } from "./representation.ts";

interface DescriptionPage {
  /** The page's assets are below this path. */
  path: string;
  /** If the description returns a 401, the page asks for a token. */
  descriptionPath: string;
  title: string;
}

const SWAGGER_UI = shippedFile("node_modules/swagger-ui-dist");
const OWN = shippedFile("lib/runtime/http");
const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

const ASSETS: readonly (readonly [folder: string, file: string, type: string])[] = [
  [SWAGGER_UI, "swagger-ui-bundle.js", SCRIPT],
  [SWAGGER_UI, "swagger-ui.css", STYLE],
  [SWAGGER_UI, "favicon-32x32.png", "image/png"],
  [OWN, "description-page.js", SCRIPT],
  [OWN, "description-page.css", STYLE],
];

/** The markup of other authors must not run. The page can send requests to the servers in its description. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src *",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Shows an OpenAPI description (RG-98). This process serves all assets, so the page works without internet access. */
export function descriptionPage(options: DescriptionPage) {
  const assets = once(loadAssets);
  const html = once(async () => representationOf(page(options, await assets()), "text/html; charset=utf-8"));
  return new Elysia({ name: `page ${options.path}`, normalize: false })
    .get(
      options.path,
      async ({ request }) =>
        respondWith(request, await html(), REVALIDATE, { "Content-Security-Policy": POLICY }),
      hidden,
    )
    .use(assetRoutes(options.path, assets));
}

async function loadAssets(): Promise<Assets> {
  const loaded = ASSETS.map(
    async ([folder, file, type]) =>
      [file, await compressedRepresentationOf(Bun.file(join(folder, file)), type)] as const,
  );
  return new Map(await Promise.all(loaded));
}

function page({ path, descriptionPath, title }: DescriptionPage, assets: Assets): string {
  const address = (file: string) => assetAddress(path, file, assets);
  const name = Bun.escapeHTML(title);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${name}</title>
    <link rel="stylesheet" href="${address("swagger-ui.css")}">
    <link rel="stylesheet" href="${address("description-page.css")}">
    <link rel="icon" type="image/png" href="${address("favicon-32x32.png")}">
  </head>
  <body>
    <p id="message" role="status">Loading the API description.</p>
    <form id="token-form" hidden>
      <h1>${name}</h1>
      <label>An operator's token, such as the registry's admin token <input type="password" autocomplete="off" required></label>
      <button>Show</button>
      <output></output>
    </form>
    <div id="swagger-ui"></div>
    <script src="${address("swagger-ui-bundle.js")}"></script>
    <script src="${address("description-page.js")}" data-description="${descriptionPath}" data-title="${name}"></script>
  </body>
</html>
`;
}

/** Serves `/swagger` and `/swagger/json` for the routes of `app` (ER-20). */
export function swaggerRoutes(app: AnyElysia, options: SwaggerOptions) {
  const description = once(async () =>
    representationOf(JSON.stringify(await openApiDescription(app, options)), "application/json"),
  );
  return new Elysia({ name: "swagger", normalize: false })
    .use(descriptionPage({ path: "/swagger", descriptionPath: DESCRIPTION_PATH, title: options.title }))
    .get(
      DESCRIPTION_PATH,
      async ({ request }) => respondWith(request, await description(), REVALIDATE),
      hidden,
    );
}
