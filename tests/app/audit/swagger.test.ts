import { describe, expect, test } from "bun:test";
import { json, startAudit } from "./audit-service.ts";

describe("the Swagger page", () => {
  // ER-20
  test("describes reads and exports with every parameter, content type and error", async () => {
    const audit = await startAudit();
    try {
      expect((await audit.get("/swagger")).headers.get("Content-Type")).toStartWith("text/html");
      const document = await json(await audit.get("/swagger/json"));
      const {
        "/audit-checkpoints": checkpoints,
        "/.well-known/jwks.json": keys,
        "/organizations/{organization_id}/usage": usage,
        "/organizations/{organization_id}/usage/statements": statements,
        ...reads
      } = document.paths;
      expect([checkpoints, keys, usage, statements].map(({ get }) => get.operationId)).toEqual([
        "listAuditCheckpoints",
        "getAuditSigningKeys",
        "listUsage",
        "listUsageStatements",
      ]);
      const isStream = (path: string) => path.includes("/audit-streams");
      expect(Object.keys(document.paths).filter(isStream).sort()).toEqual([
        "/organizations/{organization_id}/audit-streams",
        "/organizations/{organization_id}/audit-streams/{stream_id}",
        "/organizations/{organization_id}/audit-streams/{stream_id}/rotate-secret",
        "/organizations/{organization_id}/audit-streams/{stream_id}/test",
      ]);
      const parts = ["/{first}", "/{second}", "/{third}", "/{fourth}"];
      const isOfTree = (path: string) => path.startsWith("/audit-log/");
      expect(Object.keys(reads).filter(isOfTree)).toEqual([
        "/audit-log/checkpoint",
        ...parts.map((_, last) => `/audit-log/tile/{level}${parts.slice(0, last + 1).join("")}`),
      ]);
      const isOther = (path: string) => isStream(path) || isOfTree(path);
      for (const path of Object.keys(reads).filter(isOther)) delete reads[path];
      expect(Object.keys(reads).sort()).toEqual([
        "/organizations/{organization_id}/audit-events",
        "/organizations/{organization_id}/audit-events/export",
        "/users/{user_id}/audit-events",
        "/users/{user_id}/audit-events/export",
      ]);
      for (const [path, { get }] of Object.entries<{ get: Operation }>(reads)) {
        const isExport = path.endsWith("/export");
        const names = get.parameters.map(({ name }) => name);
        expect(names.sort()).toEqual(
          [
            path.startsWith("/users") ? "user_id" : "organization_id",
            ...(isExport ? ["checkpoint", "format", "proof"] : ["limit"]),
            ...["starting_after", "actor_member_id", "service", "method", "route", "outcome", "request_id"],
            ...["created_id", "occurred_after", "occurred_before", "path_params"],
          ].sort(),
        );
        expect(get.parameters.every(({ description, schema }) => description && schema)).toBe(true);
        expect(Object.keys(get.responses).sort()).toEqual(["200", "422", "429", "500", "503"]);
        expect(Object.keys(get.responses["429"]?.headers ?? {})).toEqual(["Retry-After"]);
        expect(Object.keys(get.responses["200"]?.headers ?? {})).toEqual([
          isExport ? "Content-Disposition" : "Vary",
        ]);
        expect(Object.keys(get.responses["200"]?.content ?? {}).sort()).toEqual(
          isExport ? ["application/x-ndjson", "text/csv"] : ["application/json"],
        );
      }
    } finally {
      await audit.stop();
    }
  });

  test("of the internal port describes the writes, to readers without the token that it requires", async () => {
    const audit = await startAudit({ env: { INTERNAL_AUTH_TOKEN: "secret" } });
    try {
      const document = await json(await fetch(`${audit.internal_url}/swagger/json`));
      expect(Object.keys(document.paths).sort()).toEqual([
        "/internal/events/{request_id}",
        "/internal/intents",
        "/internal/outcomes",
        "/internal/quota-counts",
        "/internal/usage-events",
        "/internal/usage/{instance}/{number}",
      ]);
      expect(document.security).toEqual([{ internal_token: [] }]);
      expect(JSON.stringify(document)).not.toContain("secret");
      const body = document.paths["/internal/outcomes"].post;
      expect(body.responses[401].headers).toBeUndefined();
    } finally {
      await audit.stop();
    }
  });

  test("is off with SWAGGER_ENABLED=false", async () => {
    const audit = await startAudit({ env: { SWAGGER_ENABLED: "false" } });
    try {
      for (const path of ["/swagger", "/swagger/json"]) {
        expect((await audit.get(path)).status).toBe(404);
        expect((await fetch(`${audit.internal_url}${path}`)).status).toBe(404);
      }
    } finally {
      await audit.stop();
    }
  });
});

interface Operation {
  parameters: { name: string; description?: string; schema?: object }[];
  responses: Record<string, { content: object; headers?: object }>;
}
