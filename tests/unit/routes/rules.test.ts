/** Validation rules 1 to 9 of the Gateway specification, clause by clause: what is accepted, what is refused and how. */
import { describe, expect, test } from "bun:test";
import { validateDocument, validateService } from "@ostiary/lib/routes";
import { pathsService, serviceWith } from "./fixtures.ts";

const GET = { methods: ["GET"] };
const POLICIES = { rate_limits: { burst: { requests: 5, window_seconds: 1 } } };

/** `[what, service config]` */
type Accepted = [string, unknown];
/** `[what, service config, path of the error, words of its message]` */
type Refused = [string, unknown, string, RegExp];

function check(rule: string, accepted: Accepted[], refused: Refused[]) {
  describe(rule, () => {
    test.each(accepted)("accepts %s", (_, config) => {
      expect(validateService("widgets", config)).toMatchObject({ ok: true });
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
    });
  });
}

function route(fields: object, scope = "organization", more: object = {}): object {
  return serviceWith(scope, [{ path: "/widgets/{widget_id}", ...fields }], more);
}

function withUrl(url: unknown): object {
  return { ...pathsService("/"), url };
}

const PATH = "public.routes[0].path";
const ROUTE = "organization.routes[0]";

describe("rule 1, service names", () => {
  test.each(["a", "A-b_c.9", "x".repeat(128), "__proto__", "constructor", "..."])("accepts %s", (name) => {
    const services = Object.fromEntries([[name, pathsService("/")]]);
    const result = validateDocument({ services });
    expect(result.ok && [...result.services.keys()]).toEqual([name]);
  });
  test.each(["", "two words", "a/b", "x".repeat(129), "café", "a\n", "a:b", ".", ".."])(
    "refuses %j",
    (name) => {
      const document = validateDocument({ services: Object.fromEntries([[name, pathsService("/")]]) });
      expect(document).toMatchObject({ ok: false, fields: [{ message: expect.stringMatching(/name/) }] });
      expect(validateService(name, pathsService("/"))).toMatchObject({
        ok: false,
        fields: [{ path: "name" }],
      });
    },
  );
});

check(
  "rule 2, canonical paths",
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
    ["an empty path", pathsService(""), PATH, /starts with `\/`/],
    ["a path without its slash", pathsService("widgets"), PATH, /starts with `\/`/],
    ["a missing path", serviceWith("public", [GET]), PATH, /Set path/],
    ["a path that is not a string", serviceWith("public", [{ path: 7, ...GET }]), PATH, /starts with/],
    ["a trailing slash", pathsService("/widgets/"), PATH, /canonical form is `\/widgets`/],
    ["upper case", pathsService("/Widgets/{Id}"), PATH, /canonical form is `\/widgets\/{Id}`/],
    ["an upper-case escape", pathsService("/caf%C3%A9"), PATH, /canonical form is `\/caf%c3%a9`/],
    ["an empty segment", pathsService("/a//b"), PATH, /canonical form is `\/a\/b`/],
    ["a dot segment", pathsService("/a/./b"), PATH, /canonical form is `\/a\/b`/],
    ["an escaped dot segment", pathsService("/a/%2e%2e/b"), PATH, /canonical form is `\/b`/],
    [
      "upper case in the prefix",
      prefixed("/Org", "/widgets"),
      "public.route_prefix",
      /canonical form is `\/org`/,
    ],
    ["a prefix without its slash", prefixed("org", "/widgets"), "public.route_prefix", /starts with `\/`/],
    ["a prefix that is not a string", prefixed(7, "/widgets"), "public.route_prefix", /is a path/],
    ["a full path that is not canonical", prefixed("/org", "//"), PATH, /canonical form is `\/org`/],
  ],
);

check(
  "rule 3, characters and length of paths",
  [
    ["escapes", pathsService("/a%20b/caf%c3%a9")],
    ["1024 bytes", pathsService(`/${"a".repeat(1023)}`)],
    ["1024 bytes, the prefix included", prefixed(`/${"p".repeat(500)}`, `/${"a".repeat(522)}`)],
  ],
  [
    ["a space", pathsService("/a b"), PATH, /visible ASCII.*%20/],
    ["a letter outside ASCII", pathsService("/café"), PATH, /visible ASCII/],
    ["a control byte", pathsService("/a\u0000b"), PATH, /visible ASCII/],
    ["DEL", pathsService("/a\u007f"), PATH, /visible ASCII/],
    ["a query", pathsService("/a?b=1"), PATH, /can not hold `\?`.*%3f/],
    ["a fragment", pathsService("/a#b"), PATH, /can not hold `#`/],
    ["a backslash", pathsService("/a\\b"), PATH, /can not hold `\\`/],
    ["a broken escape", pathsService("/a%zz"), PATH, /two hexadecimal digits/],
    ["a cut escape", pathsService("/a%2"), PATH, /two hexadecimal digits/],
    ["1025 bytes", pathsService(`/${"a".repeat(1024)}`), PATH, /at most 1024 bytes/],
    ["1025 bytes, the prefix included", prefixed(`/${"p".repeat(500)}`, `/${"a".repeat(524)}`), PATH, /1024/],
  ],
);

const params = (count: number) => Array.from({ length: count }, (_, index) => `/{p${index}}`).join("");

check(
  "rule 4, path params",
  [
    ["letters, digits and underscores", pathsService("/{a}/{_b}/{C9_d}")],
    ["a name of 64 characters", pathsService(`/{${"a".repeat(64)}}`)],
    ["32 params", pathsService(params(32))],
    ["names that every object has", pathsService("/{__proto__}/{constructor}")],
  ],
  [
    ["a hyphen", pathsService("/{widget-id}"), PATH, /letters, digits and `_`/],
    ["a leading digit", pathsService("/{1a}"), PATH, /starts with a letter or `_`/],
    ["no name", pathsService("/{}"), PATH, /starts with a letter or `_`/],
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

check(
  "rule 5, the url of a service",
  [
    ["a name and a port", withUrl("http://widgets:8080")],
    ["a name with dots, hyphens and underscores", withUrl("http://my_svc.a-b.local:80")],
    ["upper case", withUrl("http://Widgets:1")],
    ["an IPv4 address", withUrl("http://127.0.0.1:65535")],
    ["an IPv6 address", withUrl("http://[::1]:8080")],
  ],
  [
    ["no url", { public: { routes: [] } }, "url", /Set url/],
    ["null", withUrl(null), "url", /Set url/],
    ["a number", withUrl(8080), "url", /http:\/\/host:port/],
    ["an empty string", withUrl(""), "url", /`http:\/\/host:port`/],
    ["https", withUrl("https://widgets:8443"), "url", /TLS upstreams are unsupported/],
    ["a bare host and port", withUrl("widgets:8080"), "url", /`http:\/\/host:port`/],
    ["another scheme", withUrl("ftp://widgets:21"), "url", /`http:\/\/host:port`/],
    ["no port", withUrl("http://widgets"), "url", /`http:\/\/host:port`/],
    ["an empty port", withUrl("http://widgets:"), "url", /`http:\/\/host:port`/],
    ["a port that is no number", withUrl("http://widgets:http"), "url", /`http:\/\/host:port`/],
    ["a port with a leading zero", withUrl("http://widgets:080"), "url", /`http:\/\/host:port`/],
    ["a path", withUrl("http://widgets:80/v1"), "url", /`http:\/\/host:port`/],
    ["a lone slash", withUrl("http://widgets:80/"), "url", /`http:\/\/host:port`/],
    ["a query", withUrl("http://widgets:80?x=1"), "url", /`http:\/\/host:port`/],
    ["a fragment", withUrl("http://widgets:80#x"), "url", /`http:\/\/host:port`/],
    ["no host", withUrl("http://:80"), "url", /`http:\/\/host:port`/],
    ["a host with a space", withUrl("http://wid gets:80"), "url", /`http:\/\/host:port`/],
    ["a host that URL parsing would change", withUrl("http://1.2:80"), "url", /`http:\/\/host:port`/],
    ["a broken IPv6 address", withUrl("http://[::g]:80"), "url", /`http:\/\/host:port`/],
    ["user info", withUrl("http://me:secret@widgets:80"), "url", /Credentials are not allowed/],
    ["user info without a port", withUrl("http://me@widgets"), "url", /Credentials are not allowed/],
    ["port 0", withUrl("http://widgets:0"), "url", /out of range/],
    ["port 65536", withUrl("http://widgets:65536"), "url", /out of range/],
    ["a negative port", withUrl("http://widgets:-1"), "url", /out of range/],
    ["a huge port", withUrl(`http://widgets:${"9".repeat(400)}`), "url", /out of range/],
  ],
);

check(
  "rule 6, methods",
  [
    ["a list of all seven", route({ methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] })],
    [
      "a map of all seven",
      route({ methods: { GET: {}, POST: null, PUT: {}, PATCH: {}, DELETE: {}, HEAD: {}, OPTIONS: {} } }),
    ],
    [
      "one path with other methods on another row",
      serviceWith("user", [
        { path: "/a", methods: ["GET"] },
        { path: "/a", methods: ["POST"] },
      ]),
    ],
    [
      "one shape with other names of params",
      serviceWith("user", [
        { path: "/a/{x}", methods: ["GET"] },
        { path: "/a/{y}", methods: ["GET"] },
      ]),
    ],
  ],
  [
    ["none", route({}), `${ROUTE}.methods`, /Set methods/],
    ["null", route({ methods: null }), `${ROUTE}.methods`, /a list of methods, or a map/],
    ["a string", route({ methods: "GET" }), `${ROUTE}.methods`, /a list of methods, or a map/],
    ["an empty list", route({ methods: [] }), `${ROUTE}.methods`, /at least one/],
    ["an empty map", route({ methods: {} }), `${ROUTE}.methods`, /at least one/],
    [
      "an unknown method in a list",
      route({ methods: ["GET", "TRACE"] }),
      `${ROUTE}.methods[1]`,
      /one of GET/,
    ],
    [
      "an unknown method in a map",
      route({ methods: { CONNECT: {} } }),
      `${ROUTE}.methods.CONNECT`,
      /one of GET/,
    ],
    ["lower case in a list", route({ methods: ["get"] }), `${ROUTE}.methods[0]`, /upper case: `GET`/],
    ["lower case in a map", route({ methods: { get: {} } }), `${ROUTE}.methods.get`, /upper case: `GET`/],
    ["a number in a list", route({ methods: [1] }), `${ROUTE}.methods[0]`, /one of GET/],
    ["a map in a list", route({ methods: ["GET", { POST: {} }] }), `${ROUTE}.methods[1]`, /names only/],
    [
      "labels beside a map",
      route({ methods: { GET: {} }, required_labels: ["a"] }),
      `${ROUTE}.required_labels`,
      /under each method/,
    ],
    [
      "a limit beside a map",
      route({ methods: { GET: {} }, rate_limit: false }),
      `${ROUTE}.rate_limit`,
      /under each method/,
    ],
    [
      "audit beside a map",
      route({ methods: { GET: {} }, audit: true }),
      `${ROUTE}.audit`,
      /under each method/,
    ],
    ["a verb that is no object", route({ methods: { GET: true } }), `${ROUTE}.methods.GET`, /or nothing/],
    [
      "upstream under a verb",
      route({ methods: { GET: { upstream: "/x" } } }),
      `${ROUTE}.methods.GET.upstream`,
      /Unknown field/,
    ],
    ["a method twice in a list", route({ methods: ["GET", "GET"] }), `${ROUTE}.methods[1]`, /twice/],
    [
      "a path and method twice, list and list",
      serviceWith("organization", [
        { path: "/a", methods: ["GET"] },
        { path: "/a", methods: ["POST", "GET"] },
      ]),
      "organization.routes[1].methods[1]",
      /GET \/a is declared already, at organization\.routes\[0\]/,
    ],
    [
      "a path and method twice, list and map",
      serviceWith("organization", [
        { path: "/a", methods: ["GET"] },
        { path: "/a", methods: { GET: {} } },
      ]),
      "organization.routes[1].methods.GET",
      /declared already/,
    ],
    [
      "a path and method twice, through a prefix",
      {
        ...serviceWith("user", [{ path: "/org/a", ...GET }]),
        organization: { route_prefix: "/org", routes: [{ path: "/a", ...GET }] },
      },
      "organization.routes[0].methods[0]",
      /declared already, at user\.routes\[0\]/,
    ],
  ],
);

check(
  "rule 7, scopes and unknown fields",
  [
    ["one scope", pathsService("/")],
    ["a scope without routes", { url: "http://a:1", member: { routes: [] } }],
    [
      "all scopes",
      {
        url: "http://a:1",
        public: { routes: [] },
        user: { routes: [] },
        organization: { routes: [] },
        member: { routes: [] },
      },
    ],
  ],
  [
    ["no scope", { url: "http://a:1" }, "", /at least one scope: public, user, organization and member/],
    ["a service that is no object", [], "", /A service is an object/],
    ["null for a service", null, "", /A service is an object/],
    ["null for a scope", { url: "http://a:1", user: null }, "user", /A scope is an object with routes/],
    ["a scope without a list of routes", { url: "http://a:1", user: {} }, "user.routes", /Set routes/],
    ["routes as a map", { url: "http://a:1", user: { routes: {} } }, "user.routes", /is a list/],
    ["a route that is no object", serviceWith("user", ["/a"]), "user.routes[0]", /A route is an object/],
    [
      "an unknown scope",
      { ...pathsService("/"), admin: { routes: [] } },
      "admin",
      /Unknown field\. A service takes url/,
    ],
    [
      "an unknown field of a scope",
      { url: "http://a:1", user: { routes: [], prefix: "/" } },
      "user.prefix",
      /route_prefix and routes/,
    ],
    [
      "an unknown field of a route",
      route({ ...GET, timeout: 5 }),
      `${ROUTE}.timeout`,
      /Unknown field\. A route takes path/,
    ],
    [
      "an unknown field of a verb",
      route({ methods: { GET: { x: 1 } } }),
      `${ROUTE}.methods.GET.x`,
      /Unknown field/,
    ],
    [
      "an unknown field of a limit",
      route({ ...GET, rate_limit: { requests: 1, window_seconds: 1, shared: true } }),
      `${ROUTE}.rate_limit.shared`,
      /Unknown field/,
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

const upstream = (template: unknown, scope = "organization", path = "/widgets/{widget_id}") =>
  serviceWith(scope, [{ path, upstream: template, ...GET }]);
const UPSTREAM = "organization.routes[0].upstream";

check(
  "rule 8, upstream",
  [
    ["none", route(GET)],
    ["an absolute path", upstream("/v1/Widgets")],
    ["a trailing slash", upstream("/v1/widgets/")],
    ["the id of the organization", upstream("/o/{subject.organization_id}/w/{path.widget_id}")],
    ["the id of the user", upstream("/u/{subject.user_id}", "user")],
    ["both ids of a member", upstream("/o/{subject.organization_id}/m/{subject.member_id}", "member")],
    ["a placeholder within a segment", upstream("/w-{path.widget_id}.json")],
    ["a param of the prefix", prefixed("/o/{org}", "/w", { upstream: "/x/{path.org}" })],
    [
      "{organization_id} as a resource of a user route",
      serviceWith("user", [{ path: "/o/{organization_id}", ...GET }]),
    ],
    [
      "{user_id} as a resource of an organization route",
      serviceWith("organization", [{ path: "/u/{user_id}", ...GET }]),
    ],
    [
      "{member_id} as a resource of an organization route",
      serviceWith("organization", [{ path: "/m/{member_id}", ...GET }]),
    ],
    ["subject fields as params of a public route", pathsService("/{user_id}/{organization_id}/{member_id}")],
  ],
  [
    ["a number", upstream(7), UPSTREAM, /absolute path/],
    ["null", upstream(null), UPSTREAM, /absolute path/],
    ["an empty string", upstream(""), UPSTREAM, /starts with `\/`/],
    ["a relative path", upstream("widgets"), UPSTREAM, /starts with `\/`/],
    ["a url", upstream("http://other/x"), UPSTREAM, /starts with `\/`/],
    ["a query", upstream("/a?b"), UPSTREAM, /no `\?`/],
    ["a fragment", upstream("/a#b"), UPSTREAM, /no `#`/],
    ["a space", upstream("/a b"), UPSTREAM, /visible ASCII/],
    ["a line break", upstream("/a\r\nHost: x"), UPSTREAM, /visible ASCII/],
    ["a backslash", upstream("/a\\b"), UPSTREAM, /can not hold/],
    ["a dot segment", upstream("/a/../b"), UPSTREAM, /no `\.` or `\.\.` segment/],
    ["an escaped dot segment", upstream("/a/.%2E"), UPSTREAM, /no `\.` or `\.\.` segment/],
    ["an empty segment", upstream("//evil"), UPSTREAM, /no empty segment/],
    ["a template of 4097 bytes", upstream(`/${"a".repeat(4096)}`), UPSTREAM, /at most 4096 bytes/],
    ["a bare placeholder", upstream("/w/{widget_id}"), UPSTREAM, /\{path\.…\}/],
    ["an empty placeholder", upstream("/w/{}"), UPSTREAM, /needs a source/],
    ["an open brace", upstream("/w/{path.widget_id"), UPSTREAM, /brace/],
    ["a nested brace", upstream("/w/{{path.widget_id}}"), UPSTREAM, /brace/],
    ["an unknown subject field", upstream("/{subject.role}"), UPSTREAM, /\{subject\.organization_id\}/],
    [
      "a field that the scope does not have",
      upstream("/{subject.member_id}"),
      UPSTREAM,
      /use \{subject\.organization_id\}/,
    ],
    [
      "user_id on a member route",
      upstream("/{subject.user_id}", "member"),
      "member.routes[0].upstream",
      /use .*organization_id.*member_id/,
    ],
    [
      "a subject on a public route",
      upstream("/{subject.user_id}", "public"),
      "public.routes[0].upstream",
      /no subject/,
    ],
    ["an unknown param", upstream("/{path.other}"), UPSTREAM, /names no param.*\{path\.widget_id\}/],
    ["a param where the path has none", upstream("/{path.x}", "organization", "/a"), UPSTREAM, /has none/],
    [
      "{user_id} in a user path",
      serviceWith("user", [{ path: "/u/{user_id}", ...GET }]),
      "user.routes[0].path",
      /\{user_id\} can not be a param/,
    ],
    [
      "{organization_id} in an organization path",
      serviceWith("organization", [{ path: "/o/{organization_id}", ...GET }]),
      `${ROUTE}.path`,
      /\{organization_id\} can not/,
    ],
    [
      "{organization_id} in a member path",
      serviceWith("member", [{ path: "/o/{organization_id}", ...GET }]),
      "member.routes[0].path",
      /\{organization_id\} can not/,
    ],
    [
      "{member_id} in a member path",
      serviceWith("member", [{ path: "/m/{member_id}", ...GET }]),
      "member.routes[0].path",
      /\{member_id\} can not/,
    ],
    [
      "a subject field in a prefix",
      { url: "http://a:1", user: { route_prefix: "/{user_id}", routes: [] } },
      "user.route_prefix",
      /\{user_id\} can not/,
    ],
  ],
);

const labels = (value: unknown) => route({ ...GET, required_labels: value });
const limit = (value: unknown) => route({ ...GET, rate_limit: value }, "organization", POLICIES);
const policy = (value: unknown, name = "burst") => ({ ...pathsService("/"), rate_limits: { [name]: value } });
const LABELS = `${ROUTE}.required_labels`;
const LIMIT = `${ROUTE}.rate_limit`;

check(
  "rule 9, labels, limits and audit",
  [
    ["one label", labels(["a:b.c_d-9"])],
    ["32 labels", labels(Array.from({ length: 32 }, (_, index) => `l${index}`))],
    ["a label of 64 characters", labels(["l".repeat(64)])],
    ["labels on a user route", route({ ...GET, required_labels: ["a"] }, "user")],
    ["labels under a verb", route({ methods: { GET: { required_labels: ["a"] } } })],
    ["no limit", limit(false)],
    ["an inline limit", limit({ requests: 1, window_seconds: 1 })],
    ["a policy's name", limit("burst")],
    ["a limit under a verb", route({ methods: { GET: { rate_limit: "burst" } } }, "organization", POLICIES)],
    ["a shared policy", policy({ requests: 1, window_seconds: 1, shared: true })],
    ["a local policy that says so", policy({ requests: 1, window_seconds: 1, shared: false })],
    [
      "a policy's name of 64 characters",
      policy({ requests: 1, window_seconds: 1 }, "a:.-_9".padEnd(64, "x")),
    ],
    ["no policies", { ...pathsService("/"), rate_limits: {} }],
    ["audit on", route({ ...GET, audit: true })],
    ["audit off under a verb", route({ methods: { POST: { audit: false } } }, "user")],
  ],
  [
    ["labels as a string", labels("a"), LABELS, /a list of labels/],
    ["null for labels", labels(null), LABELS, /a list of labels/],
    ["an empty list of labels", labels([]), LABELS, /at least one/],
    ["33 labels", labels(Array.from({ length: 33 }, (_, index) => `l${index}`)), LABELS, /at most 32/],
    ["the label *", labels(["*"]), `${LABELS}[0]`, /can not require `\*`/],
    ["a label with *", labels(["widgets:*"]), `${LABELS}[0]`, /lower-case letters/],
    ["a label in upper case", labels(["Admin"]), `${LABELS}[0]`, /lower-case letters/],
    ["an empty label", labels([""]), `${LABELS}[0]`, /1 to 64/],
    ["a label of 65 characters", labels(["l".repeat(65)]), `${LABELS}[0]`, /1 to 64/],
    ["a label with a line break", labels(["a\n"]), `${LABELS}[0]`, /1 to 64/],
    ["a label that is no string", labels(["a", 7]), `${LABELS}[1]`, /1 to 64/],
    ["a label twice", labels(["a", "b", "a"]), `${LABELS}[2]`, /twice/],
    ["true for a limit", limit(true), LIMIT, /never true/],
    ["null for a limit", limit(null), LIMIT, /false for no limit/],
    ["a number for a limit", limit(5), LIMIT, /false for no limit/],
    ["a list for a limit", limit([]), LIMIT, /false for no limit/],
    ["an unknown policy", limit("other"), LIMIT, /no policy `other`/],
    ["a policy named like a method of every object", limit("constructor"), LIMIT, /no policy/],
    ["0 requests", limit({ requests: 0, window_seconds: 1 }), `${LIMIT}.requests`, /above 0/],
    ["negative requests", limit({ requests: -1, window_seconds: 1 }), `${LIMIT}.requests`, /above 0/],
    ["a fraction", limit({ requests: 1.5, window_seconds: 1 }), `${LIMIT}.requests`, /whole number/],
    [
      "requests as a string",
      limit({ requests: "1", window_seconds: 1 }),
      `${LIMIT}.requests`,
      /whole number/,
    ],
    [
      "more requests than a counter counts",
      limit({ requests: 1e300, window_seconds: 1 }),
      `${LIMIT}.requests`,
      /at most/,
    ],
    ["no requests", limit({ window_seconds: 1 }), `${LIMIT}.requests`, /Set requests/],
    ["a window of 0", limit({ requests: 1, window_seconds: 0 }), `${LIMIT}.window_seconds`, /above 0/],
    [
      "a window past every clock",
      limit({ requests: 1, window_seconds: 2 ** 31 }),
      `${LIMIT}.window_seconds`,
      /at most 2147483647/,
    ],
    ["no window", limit({ requests: 1 }), `${LIMIT}.window_seconds`, /Set window_seconds/],
    [
      "a policy without requests",
      policy({ window_seconds: 1 }),
      "rate_limits.burst.requests",
      /Set requests/,
    ],
    [
      "a policy with a window of 0",
      policy({ requests: 1, window_seconds: 0 }),
      "rate_limits.burst.window_seconds",
      /above 0/,
    ],
    ["a policy that is no object", policy(5), "rate_limits.burst", /A policy is an object/],
    [
      "shared as a string",
      policy({ requests: 1, window_seconds: 1, shared: "yes" }),
      "rate_limits.burst.shared",
      /true or false/,
    ],
    [
      "a policy's name in upper case",
      policy({ requests: 1, window_seconds: 1 }, "Burst"),
      "rate_limits.Burst",
      /lower-case letters/,
    ],
    ["an empty policy's name", policy({ requests: 1, window_seconds: 1 }, ""), "rate_limits.", /1 to 64/],
    [
      "a policy's name of 65 characters",
      policy({ requests: 1, window_seconds: 1 }, "x".repeat(65)),
      `rate_limits.${"x".repeat(65)}`,
      /1 to 64/,
    ],
    ["policies as a list", { ...pathsService("/"), rate_limits: [] }, "rate_limits", /a map from names/],
    [
      "audit on a public route",
      route({ ...GET, audit: false }, "public"),
      "public.routes[0].audit",
      /never audited/,
    ],
    [
      "audit on a public verb",
      route({ methods: { GET: { audit: true } } }, "public"),
      "public.routes[0].methods.GET.audit",
      /never audited/,
    ],
    ["audit as a string", route({ ...GET, audit: "yes" }), `${ROUTE}.audit`, /true or false/],
  ],
);

function prefixed(route_prefix: unknown, path: string, more: object = {}): object {
  return { url: "http://widgets:8080", public: { route_prefix, routes: [{ path, ...GET, ...more }] } };
}
