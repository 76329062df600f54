/** Tests of the validation of service names, urls, scopes and unknown fields. */
import { describe, expect, test } from "bun:test";
import { validateDocument, validateService } from "@ostiary/lib/domain/routes";
import { wordsOf } from "../../support/words.ts";
import { expectEditorToAgree } from "./editor-schema.ts";
import { pathsService, serviceWith } from "./fixtures.ts";
import { check, GET, type Refused, route } from "./rules-suite.ts";

const ROUTE = "organization.routes[0]";
const EMPTY = { routes: [] };
const userScope = (user: unknown) => ({ url: "http://a:1", user });
const FORM = /`http:\/\/host:port`/;
const NO_HOST = /^The host of the url must be a name .*`http:\/\/host:port`/;

// RG-11
describe("the validation of service names", () => {
  test.each(["a", "A-b_c.9", "x".repeat(128), "__proto__", "constructor", "..."])("accepts %s", (name) => {
    const services = Object.fromEntries([[name, pathsService("/")]]);
    expectEditorToAgree({ services });
    const result = validateDocument({ services });
    expect(result.ok && [...result.services.keys()]).toEqual([name]);
  });
  test.each(["", "two words", "a/b", "x".repeat(129), "café", "a\n", "a:b", ".", ".."])(
    "refuses %j",
    (name) => {
      const services = Object.fromEntries([[name, pathsService("/")]]);
      expectEditorToAgree({ services });
      const document = validateDocument({ services });
      expect(document).toMatchObject({ ok: false, fields: [{ message: expect.stringMatching(/name/) }] });
      expect(validateService(name, pathsService("/"))).toMatchObject({
        ok: false,
        fields: [{ path: "name" }],
      });
    },
  );
});

// RG-12, RG-13
check(
  "the validation of the url of a service",
  [
    ["a name and a port", withUrl("http://widgets:8080")],
    ["a name with dots, hyphens and underscores", withUrl("http://my_svc.a-b.local:80")],
    ["an IPv4 address", withUrl("http://127.0.0.1:65535")],
    ["an IPv6 address", withUrl("http://[::1]:8080")],
    ["an IPv6 address that holds an IPv4 one", withUrl("http://[::ffff:10.0.0.1]:8080")],
    ["a name as container engines generate it", withUrl("http://_my__svc_1_:80")],
    ["an international name in Punycode", withUrl("http://xn--caf-dma.example:80")],
    ["a name that ends with a dot", withUrl("http://widgets.default.svc.cluster.local.:80")],
    ["a label of 63 characters", withUrl(`http://${"a".repeat(63)}.b:80`)],
    ["a name of 253 characters and a dot", withUrl(`http://${"abcdefg.".repeat(31)}abcde.:80`)],
  ],
  [
    ["no url", { public: { routes: [] } }, "url", /Set url/],
    ["null", withUrl(null), "url", /Set url/],
    ["an empty string", withUrl(""), "url", FORM],
    ["https", withUrl("https://widgets:8443"), "url", /TLS upstreams are unsupported/],
    ["a bare host and port", withUrl("widgets:8080"), "url", FORM],
    ["no port", withUrl("http://widgets"), "url", FORM],
    ["a port that is not a number", withUrl("http://widgets:http"), "url", FORM],
    ["a port with a leading zero", withUrl("http://widgets:080"), "url", FORM],
    ["a path", withUrl("http://widgets:80/v1"), "url", FORM],
    ["a query", withUrl("http://widgets:80?x=1"), "url", FORM],
    ["a fragment", withUrl("http://widgets:80#x"), "url", FORM],
    ["a host with a space", withUrl("http://wid gets:80"), "url", FORM],
    ["a host that URL parsing would change", withUrl("http://1.2:80"), "url", FORM],
    ...wordsOf(". .. .a a..b a.. a.-b a-.b - %41 a%2eb a*b café xn--a ａ 。").map(
      (host): Refused => [`the host ${host}`, withUrl(`http://${host}:80`), "url", NO_HOST],
    ),
    ...wordsOf("1 256.1.1.1 1.2.3.4. 0x7f.1 a.1 ::1 [1.2.3.4] [1::2::3] [fe80::1%25eth0]").map(
      (host): Refused => [`the address ${host}`, withUrl(`http://${host}:80`), "url", NO_HOST],
    ),
    ["a label of 64 characters", withUrl(`http://${"a".repeat(64)}.b:80`), "url", NO_HOST],
    ["a name of 254 characters", withUrl(`http://${"abcdefg.".repeat(31)}abcdef:80`), "url", NO_HOST],
    ["a huge name", withUrl(`http://${"a.".repeat(500_000)}a:80`), "url", NO_HOST],
    ["a port after a path", withUrl("http://widgets/v1:80"), "url", /after it/],
    ["a broken IPv6 address", withUrl("http://[::g]:80"), "url", FORM],
    ["user info", withUrl("http://me:secret@widgets:80"), "url", /Credentials are not allowed/],
    ["port 0", withUrl("http://widgets:0"), "url", /out of range/],
    ["port 65536", withUrl("http://widgets:65536"), "url", /out of range/],
    ["a huge port", withUrl(`http://widgets:${"9".repeat(400)}`), "url", /out of range/],
  ],
);

// RG-6, RG-7
check(
  "the validation of scopes and unknown fields",
  [
    ["one scope", pathsService("/")],
    ["a scope without routes", { url: "http://a:1", member: { routes: [] } }],
    ["all scopes", { url: "http://a:1", public: EMPTY, user: EMPTY, organization: EMPTY, member: EMPTY }],
  ],
  [
    ["no scope", { url: "http://a:1" }, "", /at least one scope: public, user, organization or member/],
    ["a service that is not an object", [], "", /A service must be an object/],
    ["null for a scope", userScope(null), "user", /A scope must be an object with routes/],
    ["a scope without a list of routes", userScope({}), "user.routes", /Set routes/],
    ["routes as a map", userScope({ routes: {} }), "user.routes", /must be a list/],
    ["a text as a route", serviceWith("user", ["/a"]), "user.routes[0]", /A route must be an object/],
    [
      "an unknown scope",
      { ...pathsService("/"), admin: EMPTY },
      "admin",
      /Unknown field `\w+`\. A service can/,
    ],
    ["an unknown field of a scope", userScope({ ...EMPTY, prefix: "/" }), "user.prefix", /route_prefix and/],
    [
      "an unknown field of a route",
      route({ ...GET, timeout: 5 }),
      `${ROUTE}.timeout`,
      /Unknown .* A route can/,
    ],
    [
      "an unknown field of a policy",
      { ...pathsService("/"), rate_limits: { a: { requests: 1, window_seconds: 1, burst: 2 } } },
      "rate_limits.a.burst",
      /Unknown field/,
    ],
    [
      "a field named __proto__",
      JSON.parse('{"url":"http://a:1","user":{"routes":[]},"__proto__":{}}'),
      "__proto__",
      /Unknown field/,
    ],
  ],
);

function withUrl(url: unknown): object {
  return { ...pathsService("/"), url };
}

// RG-14
check(
  "the validation of the path of a service's own OpenAPI document",
  [
    ["a path", withOpenapi("/openapi.json")],
    ["a query", withOpenapi("/docs?format=openapi&v=3.1")],
    ["upper case and escapes", withOpenapi("/Docs/%20a")],
    ["1024 bytes", withOpenapi(`/${"a".repeat(1023)}`)],
  ],
  [
    ["null", withOpenapi(null), "openapi", /starts with `\/`/],
    ["an empty string", withOpenapi(""), "openapi", /starts with `\/`/],
    ["no slash", withOpenapi("openapi.json"), "openapi", /starts with `\/`/],
    ["another host", withOpenapi("https://elsewhere/openapi.json"), "openapi", /calls no other host/],
    ["another host without scheme", withOpenapi("//elsewhere/openapi.json"), "openapi", /no other host/],
    ["a host by a backslash", withOpenapi("/\\elsewhere/"), "openapi", /that URL parsing returns: `\/\/e/],
    ["a fragment", withOpenapi("/openapi.json#/paths"), "openapi", /never sent/],
    ["a dot segment", withOpenapi("/a/../b"), "openapi", /in the form that URL parsing returns: `\/b`/],
    ["a broken escape", withOpenapi("/%zz"), "openapi", /in the form that URL parsing returns/],
    ["a space", withOpenapi("/a b"), "openapi", /starts with `\/`/],
    ["a line break", withOpenapi("/a\n"), "openapi", /starts with `\/`/],
    ["1025 bytes", withOpenapi(`/${"a".repeat(1024)}`), "openapi", /at most 1024 bytes/],
  ],
);

function withOpenapi(openapi: unknown) {
  return { ...pathsService("/"), openapi };
}
