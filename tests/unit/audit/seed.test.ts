import { expect, test } from "bun:test";
import { join } from "node:path";
import { validateDocument } from "@ostiary/lib/domain/routes";
import { parse } from "yaml";

test("the catalog of the audit service publishes both logs, each to its subject alone, and what proves them to all", async () => {
  const file = Bun.file(join(import.meta.dir, "../../../seeds/audit.yaml"));
  const result = validateDocument(parse(await file.text()));
  expect(result).toMatchObject({ ok: true });
  expect(result.ok && Object.fromEntries(result.services)).toEqual({
    audit: {
      url: "http://localhost:3002",
      public: {
        routes: [
          { path: "/audit-checkpoints", upstream: "/audit-checkpoints", methods: ["GET"] },
          { path: "/.well-known/audit-jwks.json", upstream: "/.well-known/jwks.json", methods: ["GET"] },
        ],
      },
      openapi: "/swagger/json",
      user: {
        routes: [
          { path: "/user/audit-events", upstream: "/users/{subject.user_id}/audit-events", methods: ["GET"] },
        ],
      },
      organization: {
        routes: [
          {
            path: "/org/audit-events",
            upstream: "/organizations/{subject.organization_id}/audit-events",
            methods: ["GET"],
            required_labels: ["org:audit:read"],
          },
        ],
      },
    },
  });
});
