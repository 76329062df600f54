import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import Ajv from "ajv";
import fc from "fast-check";
import { parse } from "yaml";
import { documentSchemaText } from "../../../apps/registry/document-schema/document-schema.ts";
import { ROOT } from "../../support/root.ts";
import { runs } from "../../support/runs.ts";
import { document, hostile } from "../routes/arbitraries.ts";
import { editorAccepts, expectEditorToAgree } from "../routes/editor-schema.ts";
import { pathsService, serviceWith } from "../routes/fixtures.ts";

const text = (path: string) => Bun.file(join(ROOT, path)).text();

describe("the schema in seeds/", () => {
  test("equals the served schema (if not: bun run schema)", async () => {
    expect(await text("seeds/routes.schema.json")).toBe(documentSchemaText());
  });

  test.each(["identity", "audit", "portal", "registry", "staff", "demo"])(
    "is referenced by %s.yaml, and accepts that file",
    async (catalog) => {
      const yaml = await text(`seeds/${catalog}.yaml`);
      expect(yaml).toStartWith("# yaml-language-server: $schema=routes.schema.json\n");
      expect(editorAccepts(parse(yaml))).toBe(true);
      expect(editorAccepts(parse(yaml.replace("url:", "uri:")))).toBe(false);
    },
  );

  test("compiles in a strict validator, has an id, and has the defaults of omitted fields", () => {
    const schema = JSON.parse(documentSchemaText());
    expect(schema.$id).toBe("urn:ostiary:routes.schema.json");
    expect(Object.keys(schema.definitions).length).toBeGreaterThan(5);
    const validate = new Ajv({ strict: true, useDefaults: true }).compile(schema);
    const written = {
      services: {
        widgets: {
          url: "http://widgets:8080",
          rate_limits: { burst: { requests: 1, window_seconds: 1 } },
          user: { routes: [{ path: "/widgets", methods: ["GET"], rate_limit: "burst" }] },
        },
      },
    };
    expect(validate(written)).toBe(true);
    expect(written.services.widgets).toMatchObject({
      rate_limits: { burst: { shared: false } },
      user: { route_prefix: "" },
    });
  });
});

// RG-91
describe("an editor and apply agree on", () => {
  test("any valid document", () => {
    fc.assert(fc.property(document, (input) => expectEditorToAgree(input)));
  });

  test("hostile input", () => {
    const json = hostile.map((value) => JSON.parse(JSON.stringify(value, plain) ?? "null"));
    const shaped = fc.oneof(
      json,
      json.map((services) => ({ services })),
      json.map((service) => ({ services: { a: service } })),
      json.map((route) => ({ services: { a: { url: "http://a:1", user: { routes: [route] } } } })),
    );
    fc.assert(fc.property(shaped, expectEditorToAgree), { numRuns: runs(200) });
  });

  const spelled = (characters: string) =>
    fc.string({ unit: fc.constantFrom(...characters.split(" ")), maxLength: 8 });

  test("any path, prefix and upstream", () => {
    const path = spelled("/ / / a B . .. %2e %2E %2f % { } {a} {b} {user_id} {9} {x-y} | ? # é ~").map(
      (rest) => `/${rest}`,
    );
    const prefix = spelled("/ // /a /A /{p} /{user_id} /. a");
    const upstream = spelled("/ / a A . %2e {path.a} {subject.user_id} {subject.member_id} {a} { ? % [").map(
      (rest) => `/${rest}`,
    );
    const scope = fc.constantFrom("public", "user", "organization", "member");
    fc.assert(
      fc.property(scope, path, prefix, upstream, (scope, path, route_prefix, upstream) => {
        const route = { path, methods: ["GET"] };
        expectEditorToAgree({ services: { a: serviceWith(scope, [route]) } });
        expectEditorToAgree({ services: { a: serviceWith(scope, [{ ...route, upstream }]) } });
        const prefixed = { url: "http://a:1", [scope]: { route_prefix, routes: [route] } };
        expectEditorToAgree({ services: { a: prefixed } });
      }),
      { numRuns: runs(200) },
    );
  });

  test("any url and path of a document", () => {
    const url = spelled("a B 1 0x1 . .. - _ : :80 :0 :99999 [::1] 127.0.0.1 256 / @ %41 é xn--a").map(
      (rest) => `http://${rest}`,
    );
    const openapi = spelled("/ a A . .. %2e % ? ? # ' ` { } [ \\ é").map((rest) => `/${rest}`);
    fc.assert(
      fc.property(url, openapi, (url, openapi) => {
        expectEditorToAgree({ services: { a: { ...pathsService("/"), url } } });
        expectEditorToAgree({ services: { a: { ...pathsService("/"), url: `${url}:80` } } });
        expectEditorToAgree({ services: { a: { ...pathsService("/"), openapi } } });
      }),
      { numRuns: runs(200) },
    );
  });
});

/** Replaces bigints, which JSON does not have, with numbers. */
function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
