import { type AnyElysia, Elysia } from "elysia";
import { documentPage } from "./document-page.ts";
import { openApiDocument, type SwaggerOptions } from "./openapi.ts";
import { once } from "./page-assets.ts";
import { answerWith, REVALIDATE, representationOf } from "./representation.ts";

const DOCUMENT_PATH = "/swagger/json";

/**
 * `/swagger` and `/swagger/json` for the routes of `app` (contract 7). See openapi.ts for what schemas may say.
 */
export function swaggerRoutes(app: AnyElysia, options: SwaggerOptions) {
  const document = once(async () =>
    representationOf(JSON.stringify(await openApiDocument(app, options)), "application/json"),
  );
  return new Elysia({ name: "swagger", normalize: false })
    .use(documentPage({ path: "/swagger", document_path: DOCUMENT_PATH, title: options.title }))
    .get(DOCUMENT_PATH, async ({ request }) => answerWith(request, await document(), REVALIDATE), {
      detail: { hide: true },
    });
}
