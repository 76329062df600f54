import { beforeAll, describe, expect, test } from "bun:test";
import { describedRoutes, seededService } from "../../support/documents/catalogs.ts";
import { type OpenApiDocument, operationsIn, type PlacedOperation } from "../../support/http/openapi.ts";
import { json, sharedAudit } from "./bed.ts";

const TOKEN = "secret";

/**
 * Returns how the catalog must publish an operation: its scope, method, public path, own path and label. A
 * well-known path gets the service's name, because other services have the same path.
 */
function publishedAs({ method, path }: PlacedOperation): string {
  const [, owner, rest = ""] = /^\/(organizations|users)\/\{\w+\}(\/.*)$/.exec(path) ?? [];
  if (owner === undefined)
    return `public ${method} ${path.replace("/.well-known/", "/.well-known/audit-")} ${path}`;
  if (owner === "users") return `user ${method} /user${rest} ${path}`;
  const label = rest.startsWith("/usage") ? "usage:read" : method === "GET" ? "audit:read" : "audit:manage";
  return `organization ${method} /org${rest} ${path} org:${label}`;
}

describe("the OpenAPI description", () => {
  const audit = sharedAudit({ env: { INTERNAL_AUTH_TOKEN: TOKEN } });
  let operations: PlacedOperation[];
  beforeAll(async () => {
    const description: OpenApiDocument = await json(await audit.get("/swagger/json"));
    operations = operationsIn(description);
  });

  // AU-72
  test("has the operations that the audit catalog publishes: logs to their owners only, proof data to everybody", async () => {
    const service = await seededService("audit.yaml", "audit");
    expect(service).toMatchObject({ url: "http://localhost:3002", openapi: "/swagger/json" });
    expect(describedRoutes(service).toSorted()).toEqual(operations.map(publishedAs).toSorted());
  });

  test("of the internal port is readable without the token that its operations require", async () => {
    const document = await json(await fetch(`${audit.internalUrl}/swagger/json`));
    const internal = operationsIn(document);
    expect(internal.length).toBeGreaterThan(4);
    for (const { path } of internal) expect(path).toStartWith("/internal/");
    expect(document.security).toEqual([{ internal_token: [] }]);
    expect(JSON.stringify(document)).not.toContain(TOKEN);
    expect(document.paths["/internal/outcomes"].post.responses[401].headers).toBeUndefined();
  });
});
