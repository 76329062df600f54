import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { swagger } from "@elysiajs/swagger";
import { type AnyElysia, Elysia } from "elysia";
import { setContext } from "./request-context.ts";

export interface SwaggerOptions {
  title: string;
  description: string;
  tags: { name: string; description: string }[];
  /** Adds an Authorize button for a bearer token that every operation needs. */
  bearer_description?: string;
}

const ASSETS_FOLDER = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));

const ASSETS: Record<string, string> = {
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "swagger-ui.css": "text/css; charset=utf-8",
  "favicon-32x32.png": "image/png",
};

/**
 * `/swagger` and `/swagger/json` for the routes of `app` (contract 7). The page's assets come from this
 * process, so it works with no connection to the internet.
 */
export function swaggerRoutes(app: AnyElysia, options: SwaggerOptions) {
  let document: Promise<unknown> | undefined;
  return new Elysia({ name: "swagger", normalize: false })
    .get(
      "/swagger",
      () => new Response(page(options.title), { headers: { "Content-Type": "text/html; charset=utf-8" } }),
    )
    .get("/swagger/json", async () => {
      document ??= openApiDocument(app, options);
      return document;
    })
    .get("/swagger/assets/:file", ({ params, status }) => {
      const type = ASSETS[params.file];
      if (type === undefined) return status(404);
      return new Response(Bun.file(join(ASSETS_FOLDER, params.file)), {
        headers: { "Content-Type": type },
      });
    });
}

async function openApiDocument(app: AnyElysia, options: SwaggerOptions): Promise<unknown> {
  const plugin = swagger({
    path: "/swagger",
    documentation: {
      info: { title: options.title, description: options.description, version: "1.0.0" },
      tags: options.tags,
    },
  });
  const described = new Elysia().use(app).use(plugin);
  const request = new Request("http://localhost/swagger/json");
  setContext(request, { request_id: "", trace: null, route: null, subject: {} });
  const response = await described.handle(request);
  return response.json();
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
      window.ui = SwaggerUIBundle({ url: "/swagger/json", dom_id: "#swagger-ui", deepLinking: true, persistAuthorization: false });
    </script>
  </body>
</html>
`;
}
