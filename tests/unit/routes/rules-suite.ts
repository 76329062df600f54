/** Tests a validation rule for one service with tables of accepted and refused services (RG-6 to RG-27). */
import { describe, expect, test } from "bun:test";
import { ServiceConfig, validateService } from "@ostiary/lib/domain/routes";
import { Value } from "@sinclair/typebox/value";
import { expectEditorToAgree } from "./editor-schema.ts";
import { serviceWith } from "./fixtures.ts";

export const GET = { methods: ["GET"] };

/** An accepted case: `[what, service config]`. */
type Accepted = [string, unknown];
/** A refused case: `[what, service config, path of the violation, pattern of its message]`. */
export type Refused = [string, unknown, string, RegExp];

export function check(rule: string, accepted: Accepted[], refused: Refused[]) {
  describe(rule, () => {
    test.each(accepted)("accepts %s", (_, config) => {
      expect(validateService("widgets", config)).toMatchObject({ ok: true });
      // The schema in the OpenAPI description must accept everything that the rules accept.
      expect([...Value.Errors(ServiceConfig, config)]).toEqual([]);
      expectEditorToAgree({ services: { widgets: config } });
    });
    test.each(refused)("refuses %s", (_, config, path, message) => {
      const result = validateService("widgets", config);
      expect(result.ok).toBe(false);
      const fields = result.ok ? [] : result.fields;
      expect(fields.map((field) => field.path)).toContain(path);
      expect(
        fields
          .filter((field) => field.path === path)
          .map((field) => field.message)
          .join("\n"),
      ).toMatch(message);
      expectEditorToAgree({ services: { widgets: config } });
    });
  });
}

/** Returns a service with one route, by default of scope organization. */
export function route(fields: object, scope = "organization", more: object = {}): object {
  return serviceWith(scope, [{ path: "/widgets/{widget_id}", ...fields }], more);
}

/** Returns a public service with a prefix and one GET route. */
export function prefixed(route_prefix: unknown, path: string, more: object = {}): object {
  return { url: "http://widgets:8080", public: { route_prefix, routes: [{ path, ...GET, ...more }] } };
}
