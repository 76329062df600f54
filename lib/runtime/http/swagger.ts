import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AnyElysia, Elysia } from "elysia";
import { notFound } from "../../domain/errors/index.ts";
import { openApiDocument, type SwaggerOptions } from "./openapi.ts";
import {
  answerWith,
  IMMUTABLE,
  REVALIDATE,
  type Representation,
  representationOf,
} from "./representation.ts";

const ASSETS_FOLDER = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));

const ASSETS: Record<string, string> = {
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "swagger-ui.css": "text/css; charset=utf-8",
  "favicon-32x32.png": "image/png",
};

const hidden = { detail: { hide: true } };

/**
 * `/swagger` and `/swagger/json` for the routes of `app` (contract 7). The page's assets come from this
 * process, so it works with no connection to the internet. The page names each of them with a hash of its
 * content, so that browsers keep it for good; page and document are asked about each time, and answered with
 * 304. See openapi.ts for what schemas may say.
 */
export function swaggerRoutes(app: AnyElysia, options: SwaggerOptions) {
  const assets = once(loadAssets);
  const html = once(async () =>
    representationOf(page(options.title, await assets()), "text/html; charset=utf-8"),
  );
  const document = once(async () =>
    representationOf(JSON.stringify(await openApiDocument(app, options)), "application/json"),
  );
  return new Elysia({ name: "swagger", normalize: false })
    .get("/swagger", async ({ request }) => answerWith(request, await html(), REVALIDATE), hidden)
    .get("/swagger/json", async ({ request }) => answerWith(request, await document(), REVALIDATE), hidden)
    .get(
      "/swagger/assets/:file",
      async ({ request, params, query }) => {
        const asset = (await assets()).get(params.file);
        if (asset === undefined) throw notFound();
        // another hash is another replica's, of another version: its page gets what there is, for now
        return answerWith(request, asset, query.v === versionOf(asset) ? IMMUTABLE : REVALIDATE);
      },
      hidden,
    );
}

type Assets = ReadonlyMap<string, Representation>;

async function loadAssets(): Promise<Assets> {
  const load = async ([file, type]: [string, string]) =>
    [file, await representationOf(Bun.file(join(ASSETS_FOLDER, file)), type)] as const;
  return new Map(await Promise.all(Object.entries(ASSETS).map(load)));
}

/** What the address of an asset carries: its tag without the quotes. */
function versionOf({ etag }: Representation): string {
  return etag.slice(1, -1);
}

/** `make` is called when its value is first wanted, and again after it has failed. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

function page(title: string, assets: Assets): string {
  const address = (file: string) => {
    const asset = assets.get(file);
    return `/swagger/assets/${file}${asset ? `?v=${versionOf(asset)}` : ""}`;
  };
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="stylesheet" href="${address("swagger-ui.css")}">
    <link rel="icon" type="image/png" href="${address("favicon-32x32.png")}">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="${address("swagger-ui-bundle.js")}"></script>
    <script>
      window.ui = SwaggerUIBundle({
        url: "/swagger/json",
        dom_id: "#swagger-ui",
        deepLinking: true,
        validatorUrl: null,
      });
    </script>
  </body>
</html>
`;
}
