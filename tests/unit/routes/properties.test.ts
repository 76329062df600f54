import { describe, expect, test } from "bun:test";
import {
  ConfigDocument,
  expandService,
  StoredServiceConfig,
  validateDocument,
  validateService,
} from "@ostiary/lib/domain/routes";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import { buildRouteTable, validateStored } from "../../support/gateway/route-tables.ts";
import { runs } from "../../support/runs.ts";
import { document, hostile } from "./arbitraries.ts";
import { pathsService, storedServices } from "./fixtures.ts";

describe("a valid document", () => {
  // RG-49
  test("expands to the stored form, which a second expansion does not change", () => {
    fc.assert(
      fc.property(document, (input) => {
        for (const [name, config] of storedServices(input.services)) {
          expect(Value.Check(StoredServiceConfig, config)).toBe(true);
          expect(expandService(config)).toEqual(config);
          expect(validateService(name, config)).toEqual({ ok: true, service: config });
        }
      }),
    );
  });

  test("is loaded from JSON with all its routes and without warnings", () => {
    fc.assert(
      fc.property(document, (input) => {
        const services = [...storedServices(input.services)];
        const loaded = services.map(([name, config]) => {
          const result = validateStored(name, JSON.parse(JSON.stringify(config)));
          expect(result).toEqual({ ok: true, service: config });
          return [name, config] as const;
        });
        const table = buildRouteTable(loaded);
        expect(table.warnings).toEqual([]);
        for (const route of table.routes) {
          const path = route.path.replace(/\{[^}]*\}/g, "~value");
          expect(table.match(route.method, path)).not.toBeNull();
        }
      }),
    );
  });
});

describe("hostile input", () => {
  const shaped = fc.oneof(
    hostile,
    hostile.map((services) => ({ services })),
    hostile.map((service) => ({ services: { a: service } })),
    hostile.map((scope) => ({ services: { a: { url: "http://a:1", user: scope } } })),
    hostile.map((route) => ({ services: { a: { url: "http://a:1", user: { routes: [route] } } } })),
  );

  // RG-42
  test("never throws, and is accepted only if it matches ConfigDocument", () => {
    fc.assert(
      fc.property(shaped, (input) => {
        const result = validateDocument(input);
        if (result.ok) return expect(Value.Check(ConfigDocument, input)).toBe(true);
        expect(result.fields).not.toEqual([]);
        expect(result.fields.map(({ message }) => message)).not.toContain("");
      }),
      { numRuns: runs(300) },
    );
  });

  test("never throws as one service, as written or in stored form", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), hostile, (name, input) => {
        validateService(name, input);
        const result = validateStored(name, input);
        if (result.ok) buildRouteTable([[name, result.service]]);
      }),
      { numRuns: runs(300) },
    );
  });
});

// RG-18
test("a visible ASCII character is accepted in a path exactly if URL parsing does not change it", () => {
  for (let code = 0x21; code < 0x7f; code++) {
    const character = String.fromCharCode(code);
    if (/[A-Z{}%]/.test(character)) continue;
    const path = `/a${character}b`;
    const kept = new URL(`http://host${path}`).pathname === path;
    expect([character, validateService("s", pathsService(path)).ok]).toEqual([character, kept]);
  }
});
