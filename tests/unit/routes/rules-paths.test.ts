/** Tests of the validation of prefixes and paths. */
import { describe, expect, test } from "bun:test";
import { validateService } from "@ostiary/lib/domain/routes";
import { pathsService, serviceWith } from "./fixtures.ts";
import { check, GET, prefixed } from "./rules-suite.ts";

const PATH = "public.routes[0].path";
const PREFIX = "public.route_prefix";

// RG-15, RG-16, RG-17
check(
  "the validation of canonical paths",
  [
    ["the root", pathsService("/")],
    ["lower case, digits and marks", pathsService("/a-b_c~1/.well-known/x.y/@me:do;v=1,2!$&'()*+|")],
    ["upper case in a param's name", pathsService("/widgets/{widgetId}")],
    ["a prefix, with trailing slashes, joined to the root", prefixed("/org//", "/")],
    ["a prefix with a param", prefixed("/org/{org_id}", "/widgets")],
    ["an empty prefix", prefixed("", "/widgets")],
    ["a prefix that is the root", prefixed("/", "/widgets")],
  ],
  [
    ["an empty path", pathsService(""), PATH, /start with `\/`/],
    ["a path without a leading slash", pathsService("widgets"), PATH, /start with `\/`/],
    ["a path that is not a string", serviceWith("public", [{ path: 7, ...GET }]), PATH, /start with/],
    ["a trailing slash", pathsService("/widgets/"), PATH, /canonical form is `\/widgets`/],
    ["upper case", pathsService("/Widgets/{Id}"), PATH, /canonical form is `\/widgets\/{Id}`/],
    ["an upper-case escape", pathsService("/caf%C3%A9"), PATH, /canonical form is `\/caf%c3%a9`/],
    ["an empty segment", pathsService("/a//b"), PATH, /canonical form is `\/a\/b`/],
    ["a dot segment", pathsService("/a/./b"), PATH, /canonical form is `\/a\/b`/],
    ["a dot segment before a semicolon", pathsService("/a/..;x/b"), PATH, /canonical form is `\/b`/],
    ["a dot segment before an escaped semicolon", pathsService("/a/.%3b/b"), PATH, /form is `\/a\/b`/],
    ["a segment that begins with a semicolon", pathsService("/a/;x/b"), PATH, /canonical form is `\/a\/b`/],
    ["an escaped letter", pathsService("/%61/%5A%7a"), PATH, /canonical form is `\/a\/zz`/],
    ["an escaped mark", pathsService("/a%2d%2E%5f%7Eb"), PATH, /canonical form is `\/a-\._~b`/],
    ["upper case in the prefix", prefixed("/Org", "/widgets"), PREFIX, /canonical form is `\/org`/],
    ["a prefix that is not a string", prefixed(7, "/widgets"), PREFIX, /must be a path/],
    ["a full path that is not canonical", prefixed("/org", "//"), PATH, /canonical form is `\/org`/],
  ],
);

describe("an invalid prefix", () => {
  const routes = Array.from({ length: 20 }, (_, index) => ({
    path: `/widgets/${index}/{widget_id}`,
    upstream: `/organizations/{path.org_id}/widgets/${index}/{path.widget_id}`,
    ...GET,
  }));
  const violations = (route_prefix: unknown, more: object[] = []) => {
    const service = {
      url: "http://widgets:8080",
      public: { route_prefix, routes: [...routes, ...more] },
      user: { route_prefix: "/me", routes: [{ path: "/widgets/0/{widget_id}", ...GET }] },
      member: { routes: [{ path: "/widgets/1/{widget_id}", ...GET }] },
    };
    const result = validateService("widgets", service);
    return result.ok ? [] : result.fields.map((field) => field.path);
  };

  // RG-16
  test.each([
    "/Orgs/{org_id}",
    "orgs/{org_id}",
    "/orgs//{org_id}",
    "/orgs/{org_id",
    "/orgs /{org_id}",
    "/..",
    7,
    null,
  ])("is reported once, without consequences for its routes: %j", (prefix) =>
    expect(violations(prefix)).toEqual(["public.route_prefix"]),
  );

  test("does not hide other violations of its routes", () => {
    const wrong = [
      { path: "/Upper", ...GET },
      { path: "/a", upstream: "/{user_id}", ...GET },
      { path: "/widgets/0/{widget_id}", ...GET },
    ];
    expect(violations("/Orgs/{org_id}", wrong)).toEqual([
      "public.route_prefix",
      "public.routes[20].path",
      "public.routes[21].upstream",
      "public.routes[22].methods[0]",
    ]);
  });
});

// RG-18
check(
  "the validation of characters and length of paths",
  [
    ["escapes", pathsService("/a%20b/caf%c3%a9")],
    ["escapes of characters beside the unreserved ones", pathsService("/%2f%3a%40%5b%60%7b%7f%2c%2561%00")],
    ["1024 bytes", pathsService(`/${"a".repeat(1023)}`)],
    ["1024 bytes, the prefix included", prefixed(`/${"p".repeat(500)}`, `/${"a".repeat(522)}`)],
  ],
  [
    ["a space", pathsService("/a b"), PATH, /visible ASCII.*%20/],
    ["a letter outside ASCII", pathsService("/café"), PATH, /visible ASCII/],
    ["a query", pathsService("/a?b=1"), PATH, /cannot contain `\?`.*%3f/],
    ["a backslash", pathsService("/a\\b"), PATH, /cannot contain `\\`/],
    ["a broken escape", pathsService("/a%zz"), PATH, /two hexadecimal digits/],
    ["1025 bytes", pathsService(`/${"a".repeat(1024)}`), PATH, /at most 1024 bytes/],
    ["1025 bytes, the prefix included", prefixed(`/${"p".repeat(500)}`, `/${"a".repeat(524)}`), PATH, /1024/],
  ],
);

const params = (count: number) => Array.from({ length: count }, (_, index) => `/{p${index}}`).join("");

// RG-19, RG-20
check(
  "the validation of path params",
  [
    ["letters, digits and underscores", pathsService("/{a}/{_b}/{C9_d}")],
    ["a name of 64 characters", pathsService(`/{${"a".repeat(64)}}`)],
    ["32 params", pathsService(params(32))],
    ["names of inherited properties", pathsService("/{__proto__}/{constructor}")],
  ],
  [
    ["a hyphen", pathsService("/{widget-id}"), PATH, /letters, digits and `_`/],
    ["a leading digit", pathsService("/{1a}"), PATH, /start with a letter or `_`/],
    ["no name", pathsService("/{}"), PATH, /start with a letter or `_`/],
    ["65 characters", pathsService(`/{${"a".repeat(65)}}`), PATH, /at most 64 characters/],
    ["33 params", pathsService(params(33)), PATH, /at most 32 params/],
    ["33 params, the prefix included", prefixed(params(30), "/{x}/{y}/{z}"), PATH, /at most 32 params/],
    ["a part of a segment", pathsService("/{name}.json"), PATH, /whole segment/],
    ["two in one segment", pathsService("/{a}{b}"), PATH, /whole segment/],
    ["an open brace", pathsService("/{a"), PATH, /whole segment/],
    ["a closing brace", pathsService("/a}"), PATH, /whole segment/],
    ["one name twice", pathsService("/{a}/b/{a}"), PATH, /twice/],
    ["one name twice, once in the prefix", prefixed("/{a}", "/{a}"), PATH, /twice/],
  ],
);
