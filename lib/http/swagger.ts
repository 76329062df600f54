import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AnyElysia, Elysia } from "elysia";
import { notFound } from "../errors/index.ts";
import { openApiDocument, type SwaggerOptions } from "./openapi.ts";

export type { SwaggerOptions } from "./openapi.ts";

const ASSETS_FOLDER = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));

const ASSETS: Record<string, string> = {
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "swagger-ui.css": "text/css; charset=utf-8",
  "favicon-32x32.png": "image/png",
};

const hidden = { detail: { hide: true } };

/**
 * `/swagger` and `/swagger/json` for the routes of `app` (contract 7). The page's assets come from this
 * process, so it works with no connection to the internet. See openapi.ts for what schemas may say.
 */
export function swaggerRoutes(app: AnyElysia, options: SwaggerOptions) {
  let document: Promise<unknown> | undefined;
  return new Elysia({ name: "swagger", normalize: false })
    .get(
      "/swagger",
      () => new Response(page(options.title), { headers: { "Content-Type": "text/html; charset=utf-8" } }),
      hidden,
    )
    .get(
      "/swagger/json",
      async () => {
        document ??= openApiDocument(app, options);
        return document;
      },
      hidden,
    )
    .get(
      "/swagger/assets/:file",
      ({ params }) => {
        const type = ASSETS[params.file];
        if (type === undefined) throw notFound();
        return new Response(Bun.file(join(ASSETS_FOLDER, params.file)), {
          headers: { "Content-Type": type },
        });
      },
      hidden,
    );
}

function page(title: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="stylesheet" href="/swagger/assets/swagger-ui.css">
    <link rel="icon" type="image/png" href="/swagger/assets/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/swagger/assets/swagger-ui-bundle.js"></script>
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
