import { expect } from "bun:test";
import { swagger } from "@elysiajs/swagger";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { schemaFailureAdapter, toApiError } from "../../../../lib/runtime/http/errors.ts";
import { contract } from "./contract.ts";

const Named = Type.Object({ name: Type.String() });

contract("elysia_errors", async () => {
  let thrown: unknown;
  const app = new Elysia({ adapter: schemaFailureAdapter, normalize: false })
    .onError({ as: "global" }, ({ error }) => {
      thrown = error;
      return "refused";
    })
    .post("/", () => "taken", { body: Named });
  const request = (body: string) =>
    new Request("http://service.test/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
  expect(await (await app.handle(request('{"name":1}'))).text()).toBe("refused");
  expect(toApiError(thrown)).toMatchObject({
    code: "VALIDATION_ERROR",
    details: { fields: [{ path: "name" }] },
  });
  await app.handle(request("{"));
  expect(toApiError(thrown)).toMatchObject({ code: "INVALID_REQUEST" });
});

contract("elysia_routes", () => {
  const app = new Elysia().post("/things/:thing_id", () => "", { body: Named, detail: { summary: "Adds" } });
  const [route] = app.routes;
  expect(route).toMatchObject({ method: "POST", path: "/things/:thing_id" });
  expect(route?.hooks).toMatchObject({ body: Named, detail: { summary: "Adds" } });
});

contract("elysia_swagger", async () => {
  const id = Type.String({ openapi: { examples: ["7"] } });
  const hooks = {
    params: Type.Object({ thing_id: id }),
    query: Named,
    body: Named,
    detail: { summary: "Adds" },
  };
  const app = new Elysia()
    .route("POST", "/things.d/:thing_id", "", hooks)
    .use(swagger({ path: "/swagger", specPath: "/swagger/json", excludeStaticFile: false }));
  const described = await (await app.handle(new Request("http://service.test/swagger/json"))).json();
  const post = {
    summary: "Adds",
    parameters: [
      { in: "path", name: "thing_id", required: true, schema: { openapi: { examples: ["7"] } } },
      { in: "query", name: "name", required: true },
    ],
    requestBody: { content: { "application/json": { schema: { required: ["name"] } } } },
  };
  expect(described).toMatchObject({ paths: { "/things.d/{thing_id}": { post } } });
});
