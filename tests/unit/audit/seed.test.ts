import { expect, test } from "bun:test";
import { join } from "node:path";
import { validateDocument } from "@ostiary/lib/domain/routes";
import { parse } from "yaml";

const READ = "org:audit:read";
const MANAGE = "org:audit:manage";

type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** Returns the routes of one address of streams, a row for each method with its label. */
function streamRoutes(path: string, ...rows: [method: Method, label: string][]) {
  const upstream = `/organizations/{subject.organization_id}/audit-streams${path.replace("{", "{path.")}`;
  return rows.map(([method, label]) => ({
    path: `/org/audit-streams${path}`,
    upstream,
    methods: [method],
    required_labels: [label],
  }));
}

// AU-72
test("audit's catalog publishes both logs, each to its subject alone, and their proof data to everybody", async () => {
  const file = Bun.file(join(import.meta.dir, "../../../seeds/audit.yaml"));
  const result = validateDocument(parse(await file.text()));
  expect(result).toMatchObject({ ok: true });
  expect(result.ok && Object.fromEntries(result.services)).toEqual({
    audit: {
      url: "http://localhost:3002",
      public: {
        routes: [
          { path: "/audit-checkpoints", upstream: "/audit-checkpoints", methods: ["GET"] },
          { path: "/audit-log/checkpoint", upstream: "/audit-log/checkpoint", methods: ["GET"] },
          ...["first", "second", "third", "fourth"].map((_, last, names) => {
            const parts = ["level", ...names.slice(0, last + 1)];
            return {
              path: `/audit-log/tile${parts.map((name) => `/{${name}}`).join("")}`,
              upstream: `/audit-log/tile${parts.map((name) => `/{path.${name}}`).join("")}`,
              methods: ["GET" as const],
            };
          }),
          { path: "/.well-known/audit-jwks.json", upstream: "/.well-known/jwks.json", methods: ["GET"] },
        ],
      },
      openapi: "/swagger/json",
      user: {
        routes: [
          { path: "/user/audit-events", upstream: "/users/{subject.user_id}/audit-events", methods: ["GET"] },
          {
            path: "/user/audit-events/export",
            upstream: "/users/{subject.user_id}/audit-events/export",
            methods: ["GET"],
          },
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
          {
            path: "/org/audit-events/export",
            upstream: "/organizations/{subject.organization_id}/audit-events/export",
            methods: ["GET"],
            required_labels: ["org:audit:read"],
          },
          {
            path: "/org/usage",
            upstream: "/organizations/{subject.organization_id}/usage",
            methods: ["GET"],
            required_labels: ["org:usage:read"],
          },
          {
            path: "/org/usage/statements",
            upstream: "/organizations/{subject.organization_id}/usage/statements",
            methods: ["GET"],
            required_labels: ["org:usage:read"],
          },
          ...streamRoutes("", ["GET", READ], ["POST", MANAGE]),
          ...streamRoutes("/{stream_id}", ["GET", READ], ["PATCH", MANAGE], ["DELETE", MANAGE]),
          ...streamRoutes("/{stream_id}/rotate-secret", ["POST", MANAGE]),
          ...streamRoutes("/{stream_id}/test", ["POST", MANAGE]),
        ],
      },
    },
  });
});
