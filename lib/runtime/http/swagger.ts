import { type AnyElysia, Elysia } from "elysia";
import { descriptionPage } from "./description-page.ts";
import { DESCRIPTION_PATH, openApiDescription, type SwaggerOptions } from "./openapi.ts";
import { hidden, once } from "./page-assets.ts";
import { answerWith, REVALIDATE, representationOf } from "./representation.ts";

/** Serves `/swagger` and `/swagger/json` for the routes of `app` (ER-20). */
export function swaggerRoutes(app: AnyElysia, options: SwaggerOptions) {
  const description = once(async () =>
    representationOf(JSON.stringify(await openApiDescription(app, options)), "application/json"),
  );
  return new Elysia({ name: "swagger", normalize: false })
    .use(descriptionPage({ path: "/swagger", descriptionPath: DESCRIPTION_PATH, title: options.title }))
    .get(
      DESCRIPTION_PATH,
      async ({ request }) => answerWith(request, await description(), REVALIDATE),
      hidden,
    );
}
