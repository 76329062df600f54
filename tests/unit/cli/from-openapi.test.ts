/** Tests of the conversion of OpenAPI descriptions to configuration documents. */
import { describe, expect, test } from "bun:test";
import { parseText } from "@ostiary/lib/runtime/documents";
import fc from "fast-check";
import { Refused } from "../../../apps/cli/exit-codes.ts";
import { Conversion, type Converted, type ConvertOptions } from "../../../apps/cli/from-openapi/convert.ts";
import { Description } from "../../../apps/cli/from-openapi/description.ts";
import { documentText } from "../../../apps/cli/from-openapi/document.ts";
import { checkFiles } from "../../../apps/cli/validation/validation-report.ts";
import { wordsOf } from "../../support/words.ts";

const OPTIONS = { service: "widgets", url: "http://widgets:8080" };
const MARK = "Not expressed: ";

const bytesOf = (description: unknown) =>
  new TextEncoder().encode(typeof description === "string" ? description : JSON.stringify(description));

/** Converts a description, and checks that the printed document is valid and holds exactly the converted routes. */
function convert(description: unknown, more: Partial<ConvertOptions> = {}) {
  const options = { ...OPTIONS, ...more };
  const converted = new Conversion(new Description("openapi.yaml", bytesOf(description)), options).run();
  const text = documentText(converted, options);
  const report = checkFiles([{ name: "routes.yaml", bytes: bytesOf(text) }], null);
  expect(report.problems).toEqual([]);
  expect(parseText(text)).toEqual({
    services: Object.fromEntries([[options.service, expected(converted, options)]]),
  });
  const comments = text.split("\n").flatMap((line) => /^ *# (.*)$/.exec(line)?.[1] ?? []);
  return {
    text,
    problems: converted.problems,
    reasons: comments.filter((each) => each.startsWith(MARK)).map((each) => each.slice(MARK.length)),
    comments: comments.filter((each) => !each.startsWith(MARK)).slice(2),
    service: Object(parseText(text)).services[options.service],
  };
}

/** Returns the service that the document must hold. */
function expected({ entries, policies }: Converted, { url, prefix, scope = "organization" }: ConvertOptions) {
  const scopes = new Set(entries.map((entry) => entry.scope));
  if (scopes.size === 0) scopes.add(scope);
  return {
    url,
    ...(Object.keys(policies).length > 0 && { rate_limits: policies }),
    ...Object.fromEntries(
      [...scopes].map((each) => [
        each,
        {
          ...(prefix !== undefined && { route_prefix: prefix }),
          routes: entries.flatMap(({ scope: own, route }) => {
            if (own !== each || route === null) return [];
            const { verbs, ...fields } = route;
            return [
              { ...fields, methods: Object.fromEntries(verbs.map(({ method, config }) => [method, config])) },
            ];
          }),
        },
      ]),
    ),
  };
}

const described = (paths: object, more: object = {}) => ({ openapi: "3.1.0", paths, ...more });
const secured = (security: unknown, more: object = {}) => ({
  ...described({ "/a": { get: { security } } }),
  components: {
    securitySchemes: {
      key: { type: "apiKey" },
      oauth: { type: "oauth2" },
      openid: { type: "openIdConnect" },
      bearer: { type: "http", scheme: "Bearer" },
      basic: { type: "http", scheme: "basic" },
      pointed: { $ref: "#/components/securitySchemes/oauth" },
    },
  },
  ...more,
});

// RG-168
test("each operation of a path is a method of a route, with its summary as a comment", () => {
  const { text, problems } = convert(
    described({
      "/widgets/{widgetId}": {
        parameters: [],
        get: { summary: "Get a widget" },
        put: { description: "Replace a widget.\n\nAll of it.", deprecated: true },
        delete: { operationId: "deleteWidget" },
        head: {},
      },
    }),
  );
  expect(problems).toBe(0);
  expect(text.slice(text.indexOf("services:"))).toBe(`services:
  widgets:
    url: http://widgets:8080
    organization:
      routes:
        - path: /widgets/{widgetId}
          methods:
            # Get a widget
            GET: {}
            # Replace a widget. All of it. (deprecated)
            PUT: {}
            # deleteWidget
            DELETE: {}
            HEAD: {}
`);
});

// RG-168
test.each([
  ["JSON of 3.0", '{"openapi": "3.0.3", "paths": {"/a": {"get": {}}}}'],
  ["YAML of 3.1", "openapi: 3.1.0\npaths:\n  /a:\n    get: {}\n"],
  ["YAML with a number as the version", "openapi: 3.0\npaths:\n  /a: {get: {}}\n"],
])("%s is read", (_, description) => {
  expect(convert(description).service.organization.routes).toEqual([{ path: "/a", methods: { GET: {} } }]);
});

// RG-168
test.each<[string, unknown, RegExp]>([
  ["Swagger 2.0", { swagger: "2.0", paths: {} }, /Swagger 2\.0: convert it to OpenAPI 3/],
  ["a newer version", { openapi: "3.2.0", paths: {} }, /not a description of OpenAPI 3\.0 or 3\.1/],
  ["a version that only begins like one", { openapi: "3.10", paths: {} }, /OpenAPI 3\.0 or 3\.1/],
  ["no version", { paths: {} }, /set openapi to the version/],
  ["no paths", { openapi: "3.1.0" }, /has no paths/],
  ["a list", [], /not an object/],
  ["broken YAML", "openapi: [", /openapi\.yaml: /],
  ["a repeated key", "openapi: 3.1.0\npaths: {}\npaths: {}\n", /openapi\.yaml: /],
  ["deep nesting", `{"openapi":"3.1.0","paths":${"[".repeat(80)}${"]".repeat(80)}}`, /nested/],
  ["nothing", " ", /empty/],
])("%s is refused", (_, description, message) => {
  expect(() => convert(description)).toThrow(Refused);
  expect(() => convert(description)).toThrow(message);
});

// RG-169
describe("a comment in place says why no route can express", () => {
  test.each<[string, object, RegExp]>([
    ["upper case", { "/Pets": { get: {} } }, /^GET \/Pets\. .*Write path: \/pets and upstream: \/Pets\.$/],
    ["a trailing slash", { "/a/": { get: {} } }, /form is `\/a`\. Write path: \/a and upstream: \/a\/\.$/],
    ["several params in a segment", { "/{a}.{b}": { get: {} } }, /at most one param/],
    ["a param beside text", { "/v{a}": { get: {} } }, /must fill a whole segment/],
    ["a param without a name", { "/{}": { get: {} } }, /name must start with a letter/],
    ["a param of an owner", { "/{organization_id}": { get: {} } }, /write the caller's id as/],
    ["a param that occurs twice", { "/{a}/{a}": { get: {} } }, /occurs twice/],
    ["an asterisk", { "/a/*": { get: {} } }, /no wildcard/],
    ["a greedy param", { "/a/{path+}": { get: {} } }, /no wildcard/],
    ["a param with slashes of RFC 6570", { "/a{/path}": { get: {} } }, /no wildcard|whole segment/],
    ["a query", { "/a?b=c": { get: {} } }, /no query and no fragment/],
    ["a fragment", { "/#Action=a": { get: {} } }, /no query and no fragment/],
    ["characters outside ASCII", { "/é": { get: {} } }, /percent-encode/],
    ["a path without a slash", { a: { get: {} } }, /must start with `\/`/],
    ["a huge path", { [`/${"a".repeat(100_000)}`]: { get: {} } }, /1024 bytes/],
    ["TRACE", { "/a": { trace: {} } }, /^TRACE \/a\. A route has one of the methods GET,/],
    ["OPTIONS", { "/a": { options: {} } }, /responds to OPTIONS itself/],
    ["servers of an operation", { "/a": { get: { servers: [{ url: "http://b" }] } } }, /servers of its own/],
    ["servers of a path", { "/a": { servers: [{ url: "http://b" }], get: {} } }, /servers of its own/],
    ["a path item of another type", { "/a": 1 }, /^the path \/a\. The description has no object there/],
    ["a reference to another file", { "/a": { $ref: "b.yaml#/a" } }, /leads out of the description/],
    ["a reference to nothing", { "/a": { $ref: "#/__proto__" } }, /names nothing/],
    ["a circle", { "/a": { $ref: "#/paths/~1a" } }, /chain of more than 16 references/],
  ])("%s", (_, paths, reason) => {
    const { problems, reasons, service } = convert(described({ ...paths, "/z": { get: {} } }));
    expect([problems, reasons.length]).toEqual([1, 1]);
    expect(reasons[0]).toMatch(reason);
    expect(service.organization.routes).toEqual([{ path: "/z", methods: { GET: {} } }]);
  });

  test("a path that matches the same requests as another one", () => {
    const { reasons, service } = convert(
      described({
        "/a/{x}": { get: {} },
        "/a/{y}": { get: {}, put: {} },
        "/a;v=1": { get: {} },
        "/a": { get: {} },
      }),
    );
    expect(reasons).toEqual([
      "GET /a/{y}. The route GET /a/{x} serves the same requests: only the names or spellings differ.",
      "GET /a. The route GET /a;v=1 serves the same requests: only the names or spellings differ.",
    ]);
    expect(service.organization.routes.map(({ path }: { path: string }) => path)).toEqual([
      "/a/{x}",
      "/a/{y}",
      "/a;v=1",
    ]);
  });

  test("operations beyond the size of a service", () => {
    const long = "a".repeat(900);
    const paths = Object.fromEntries(
      Array.from({ length: 1_500 }, (_, index) => [`/${long}/${index}`, { get: {} }]),
    );
    const { reasons, service, problems } = convert(described(paths));
    const kept = service.organization.routes.length;
    expect(problems).toBe(1_500 - kept);
    expect(reasons).toEqual([
      `${1_500 - kept} further operations. A service can have 1048576 bytes: split it.`,
    ]);
  });
});

// RG-168
test("params get names that routes can have, and a reference to a path item is followed", () => {
  const { service, comments, problems } = convert({
    ...described({
      "/a/{widget-id}/{widget.id}/{1}": { get: {} },
      "/b": { $ref: "#/components/pathItems/shared~1b", put: { summary: "own" } },
    }),
    components: { pathItems: { "shared/b": { get: { summary: "shared" }, put: { summary: "hidden" } } } },
  });
  expect(problems).toBe(0);
  expect(service.organization.routes).toEqual([
    { path: "/a/{widget_id}/{widget_id_2}/{_1}", methods: { GET: {} } },
    { path: "/b", methods: { GET: {}, PUT: {} } },
  ]);
  expect(comments).toEqual([
    "{widget-id} is {widget_id} here.",
    "{widget.id} is {widget_id_2} here.",
    "{1} is {_1} here.",
    "shared",
    "own",
  ]);
});

// RG-168
describe("what many operations share is not read whole for each of them:", () => {
  const limit = { "x-kong-plugin-rate-limiting": { $ref: "#/x-shared" } };

  /**
   * Converts `count` paths with an item each, and returns how often the description's object `shared` was read whole.
   */
  function readsOf(count: number, item: object, shared: object, more: object = {}): number {
    const paths = Object.fromEntries(Array.from({ length: count }, (_, n) => [`/p${n}`, item]));
    const description = new Description("openapi.yaml", bytesOf({ ...described(paths), ...more }));
    let reads = 0;
    const watched = new Proxy(shared, {
      ownKeys(target) {
        reads += 1;
        return Reflect.ownKeys(target);
      },
      get(target, name) {
        if (name === "length") reads += 1;
        return Reflect.get(target, name);
      },
    });
    Object.assign(description.root, Array.isArray(shared) ? { security: watched } : { "x-shared": watched });
    const { operations } = new Conversion(description, OPTIONS).run();
    expect(operations).toBe(count);
    return reads;
  }

  test.each<[string, object, object]>([
    ["a path item", { $ref: "#/x-shared" }, { get: {} }],
    ["a limit", { get: limit }, { config: { minute: 5 } }],
    ["a security scheme", { get: { security: [{ shared: [] }] } }, { type: "oauth2" }],
    ["security requirements", { get: {} }, [{ key: [] }]],
  ])("%s", (_, item, shared) => {
    const more = { components: { securitySchemes: { shared: { $ref: "#/x-shared" } } } };
    expect(readsOf(50, item, shared, more)).toBe(readsOf(1, item, shared, more));
  });

  test.each([
    [2_048, /names nothing/],
    [2_049, /more than 2048 characters/],
  ])("a reference of %d characters", (length, reason) => {
    const { reasons } = convert(described({ "/a": { $ref: "#/".padEnd(length, "a") } }));
    expect(reasons).toEqual([expect.stringMatching(reason)]);
  });

  test.each([
    [16, true],
    [17, false],
  ])("a chain of %d references is followed: %p", (length, isFollowed) => {
    const links = Array.from({ length }, (_, at) => ({ $ref: `#/x-chain/${at + 1}` }));
    const { service } = convert(
      described({ "/a": { $ref: "#/x-chain/1" }, "/z": { get: {} } }, { "x-chain": [...links, { get: {} }] }),
    );
    const paths = service.organization.routes.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(isFollowed ? ["/a", "/z"] : ["/z"]);
  });
});

// RG-170
describe("the scope of an operation", () => {
  test.each<[string, unknown, string]>([
    ["an API key", [{ key: [] }], "organization"],
    ["HTTP basic", [{ basic: [] }], "organization"],
    ["OAuth 2", [{ oauth: [] }], "user"],
    ["OpenID Connect", [{ openid: [] }], "user"],
    ["a bearer token", [{ bearer: [] }], "user"],
    ["a reference to OAuth 2", [{ pointed: [] }], "user"],
    ["the first of several", [{ key: [] }, { oauth: [] }], "organization"],
    ["an unknown scheme", [{ __proto__x: [] }], "organization"],
    ["no credential", [], "public"],
    ["nothing said", undefined, "organization"],
  ])("with %s", (_, security, scope) => {
    const { service, problems } = convert(secured(security));
    expect([Object.keys(service), problems]).toEqual([["url", scope], 0]);
    expect(Object.keys(convert(secured(security), { scope: "member" }).service)).toEqual(["url", "member"]);
  });

  test("with security of the whole description", () => {
    const whole = { security: [{ oauth: [] }] };
    expect(Object.keys(convert(secured(undefined, whole)).service)).toEqual(["url", "user"]);
    expect(Object.keys(convert(secured([], whole)).service)).toEqual(["url", "public"]);
  });

  test.each<[string, unknown]>([
    ["a name", "key"],
    ["null", null],
    ["a list with a name", ["key"]],
    ["a list with null", [null]],
    ["a list in a list", [[]]],
    ["a name beside a requirement", ["oauth", { oauth: [] }]],
  ])("with security that is %s is never public, and a comment says so", (_, security) => {
    const whole = { security: [] };
    for (const description of [secured(security, whole), secured(undefined, { security })]) {
      const { service, reasons } = convert(description);
      expect(Object.keys(service)).toEqual(["url", "organization"]);
      expect(reasons).toEqual([expect.stringMatching(/is not a list of objects/)]);
    }
  });

  test("with an optional credential stays protected, with a comment", () => {
    const { service, reasons } = convert(secured([{}, { key: [] }]));
    expect(Object.keys(service)).toEqual(["url", "organization"]);
    expect(reasons).toEqual([expect.stringMatching(/without a credential is allowed too/)]);
    expect(Object.keys(convert(secured([{}])).service)).toEqual(["url", "organization"]);
  });
});

// RG-170
test.each<[string, unknown, object, RegExp | null]>([
  ["one scope is a label", [{ key: ["a:read"] }], { required_labels: ["a:read"] }, null],
  ["of several the first is a label", [{ key: ["a", "b"] }], { required_labels: ["a"] }, /needs all of a, b/],
  ["a URL is no label", [{ key: ["https://a/b"] }], {}, /cannot be a label/],
  ["an asterisk is no label", [{ key: ["*"] }], {}, /cannot be a label/],
  ["a user route has no labels", [{ oauth: ["a"] }], {}, /only organization and member routes check labels/],
])("scopes of a security scheme: %s", (_, security, config, reason) => {
  const { service, reasons } = convert(secured(security));
  const { routes } = service.organization ?? service.user;
  expect(routes[0].methods.GET).toEqual(config);
  expect(reasons).toEqual(reason === null ? [] : [expect.stringMatching(reason)]);
});

// RG-171
describe("a limit of Kong or APISIX", () => {
  const plugin = (value: object) => ({ "x-kong-plugin-rate-limiting": value });
  const kong = (config: unknown) => plugin({ name: "rate-limiting", config });
  const apisix = (plugin: unknown) => ({ "x-apisix-plugins": { "limit-count": plugin, other: {} } });
  const minute = { requests: 5, window_seconds: 60 };
  const five = { count: 5, time_window: 60 };

  test.each<[string, object, unknown, RegExp[]]>([
    ["one window", kong({ minute: 5, hour: null, policy: "local" }), minute, []],
    ["a day", kong({ day: 5, limit_by: "consumer" }), { requests: 5, period: "day" }, []],
    ["several", kong({ second: 1, minute: 5 }), [minute, { requests: 1, window_seconds: 1 }], []],
    ["a year", kong({ minute: 5, year: 9 }), minute, [/longest period is a month/]],
    ["an address", kong({ minute: 5, limit_by: "ip" }), minute, [/counts by ip/]],
    ["switched off", plugin({ enabled: false, config: { minute: 5 } }), undefined, []],
    ["nothing", kong({}), undefined, [/without a number/]],
    ["a wrong number", kong({ minute: "5" }), undefined, [/without a number/]],
    ["a reference", plugin({ $ref: "#/x-limit" }), minute, []],
    ["a reference to nothing", plugin({ $ref: "#/y" }), undefined, [/names nothing/]],
    ["APISIX", apisix(five), minute, []],
    ["APISIX by address", apisix({ ...five, key: "remote_addr" }), minute, [/by remote_addr/]],
    ["a group", apisix({ ...five, group: "g" }), minute, [/use a policy/]],
    ["a window of centuries", apisix({ ...five, time_window: 1e12 }), undefined, [/without a valid count/]],
    ["another plugin", { "x-apisix-plugins": { "key-auth": {} } }, undefined, []],
    [
      "two with one window",
      { ...kong({ minute: 5 }), ...apisix({ ...five, count: 6 }) },
      undefined,
      [/limits of GET/],
    ],
    [
      "more than a route can have",
      kong({ second: 1, minute: 5, hour: 9, day: 10 }),
      [{ requests: 10, period: "day" }, { requests: 9, window_seconds: 3_600 }, minute],
      [/the longest are kept/],
    ],
  ])("%s", (_, extension, rate_limit, reasons) => {
    const more = { "x-limit": { config: { minute: 5 } } };
    for (const paths of [{ "/a": { get: extension } }, { "/a": { get: {}, ...extension } }]) {
      const converted = convert(described(paths, more));
      expect(converted.service.organization.routes[0].methods.GET.rate_limit).toEqual(rate_limit);
      expect(converted.reasons).toEqual(reasons.map((reason) => expect.stringMatching(reason)));
    }
  });

  test("of the whole description is a policy of all operations without their own", () => {
    const { service } = convert(
      described({ "/a": { get: {}, put: kong({ minute: 5 }) } }, kong({ minute: 7, month: 9 })),
    );
    expect(service.rate_limits).toEqual({
      description: { requests: 9, period: "month" },
      "description-2": { requests: 7, window_seconds: 60 },
    });
    expect(service.organization.routes[0].methods).toEqual({
      GET: { rate_limit: ["description", "description-2"] },
      PUT: { rate_limit: minute },
    });
  });
});

// RG-172
describe("the upstream of a route", () => {
  test.each<[string, unknown, string | undefined, string | undefined]>([
    ["no servers", undefined, undefined, undefined],
    ["a server without a path", [{ url: "https://api.example.com/" }], undefined, undefined],
    ["a server with a path", [{ url: "https://api.example.com/v1/" }], undefined, "/v1/a/{path.b}"],
    ["a relative server", [{ url: "/V1" }, { url: "/v2" }], undefined, "/V1/a/{path.b}"],
    [
      "a server with variables",
      [
        {
          url: "{scheme}://x/{version}",
          variables: { version: { default: "v3" }, scheme: { default: "http" } },
        },
      ],
      undefined,
      "/v3/a/{path.b}",
    ],
    ["a prefix", undefined, "/org", "/a/{path.b}"],
    ["a prefix, and a server with a path", [{ url: "/v1" }], "/org", "/v1/a/{path.b}"],
  ])("with %s", (_, servers, prefix, upstream) => {
    const { service, problems } = convert(described({ "/a/{b}": { get: {} } }, { servers }), { prefix });
    expect(problems).toBe(0);
    expect(service.organization).toEqual({
      ...(prefix !== undefined && { route_prefix: prefix }),
      routes: [{ path: "/a/{b}", ...(upstream !== undefined && { upstream }), methods: { GET: {} } }],
    });
  });

  const SERVERS = [{ url: "//api.example.com/v1" }];

  test.each<[string, unknown]>([
    ["the same address", [{ url: "https://api.example.com/v1" }]],
    ["the same address in another spelling", [{ url: "https://API.example.com:443/v1/" }]],
    ["no address", []],
  ])("is the same when an operation or path names %s", (_, servers) => {
    const { problems, service } = convert(
      described({ "/a": { get: { servers } }, "/b": { servers, get: {} } }, { servers: SERVERS }),
    );
    expect(problems).toBe(0);
    expect(service.organization.routes).toMatchObject([{ path: "/a" }, { path: "/b" }]);
  });

  test.each(["https://b.example.com/v1", "https://api.example.com/v2", "https://api.example.com:8443/v1"])(
    "is not expressed when an operation names the server %s",
    (url) => {
      const { reasons } = convert(described({ "/a": { get: { servers: [{ url }] } } }, { servers: SERVERS }));
      expect(reasons).toEqual(["GET /a. It has servers of its own: a service has one url."]);
    },
  );

  test("with an address that is not a URL has no base, and a comment says so", () => {
    const { reasons } = convert(described({ "/a": { get: {} } }, { servers: [{ url: "http://[" }] }));
    expect(reasons).toEqual(["The servers. The address of the first server is not a URL."]);
  });
});

// RG-168, RG-169
describe("no description can break out of the document:", () => {
  const TEXTS = [
    "a\n- path: /evil\r\n  methods: [GET]",
    "# x: y",
    "\u0085\u2028\u2029services: {}",
    "*a &b !!c |>%@`'\"{}[],: -",
    "--- \n...\n%YAML 1.2",
    "\u202e\u0000\u001b[31m\ufeff\ud800",
    "x".repeat(10_000),
    "😀".repeat(200),
  ];
  const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: "binary", maxLength: 40 }));
  const name = fc.oneof(
    fc.constantFrom(
      ...wordsOf("__proto__ constructor toString a {a} {b-c} {__proto__} A %41 .. true 1e3 ~"),
      "",
    ),
    text,
  );
  const path = fc.array(name, { maxLength: 4 }).map((names) => `/${names.join("/")}`);
  const security = fc.oneof(
    fc.constantFrom<unknown>(null, [], [{}], "x", [[]], [{ key: ["a", "b"] }]),
    fc.array(
      fc.dictionary(name, fc.oneof(fc.array(text, { maxLength: 3 }), fc.constant(null)), { maxKeys: 2 }),
    ),
  );
  const count = fc.constantFrom<unknown>(1, 0, -1, 1.5, null, "5", 1e308, {}, 2 ** 53);
  const extension = fc.record(
    {
      "x-kong-plugin-rate-limiting": fc.record({
        config: fc.dictionary(
          fc.constantFrom("second", "minute", "hour", "day", "month", "year", "limit_by"),
          fc.oneof(count, text),
        ),
      }),
      "x-apisix-plugins": fc.record({
        "limit-count": fc.record({ count, time_window: count, key: text, group: text }),
      }),
      summary: text,
      description: text,
      operationId: fc.oneof(text, count),
      deprecated: fc.boolean(),
      security,
      servers: fc.constantFrom<unknown>([], [{ url: "/x" }], null),
    },
    { requiredKeys: [] },
  );
  const method = fc.constantFrom(...wordsOf("get put post delete options head patch trace query x-get"));
  const item = fc.oneof(
    { weight: 5, arbitrary: fc.dictionary(method, extension, { maxKeys: 4 }) },
    { weight: 1, arbitrary: fc.oneof(fc.constantFrom<unknown>(null, 1, [], "x"), text) },
    { weight: 1, arbitrary: path.map((target) => ({ $ref: `#/paths/${target.replaceAll("/", "~1")}` })) },
  );
  const description = fc.record(
    {
      openapi: fc.constantFrom("3.0.0", "3.1.1"),
      info: fc.record({ title: text }),
      servers: fc.array(
        fc.record({ url: fc.oneof(text, fc.constantFrom("/V1", "http://a/%zz", "/a{b}", "/..;/")) }),
        { maxLength: 2 },
      ),
      security,
      components: fc.record({
        securitySchemes: fc.dictionary(
          name,
          fc.record({ type: fc.constantFrom("oauth2", "apiKey", "__proto__") }),
        ),
      }),
      paths: fc.dictionary(path, item, { maxKeys: 8 }),
    },
    { requiredKeys: ["openapi", "paths"] },
  );
  const options = fc.record(
    {
      service: fc.constantFrom(...wordsOf("widgets __proto__ true 1 null - a.b 0x1 y 1e3 ...")),
      scope: fc.constantFrom("public", "user", "organization", "member"),
      prefix: fc.constantFrom("/", "/org", "/{a}", "/org//"),
    },
    { requiredKeys: ["service"] },
  );

  test("the document of any description is valid and holds its routes alone", () => {
    let problems = 0;
    fc.assert(
      fc.property(description, extension, options, (random, rootLimits, given) => {
        const converted = convert({ ...rootLimits, ...random }, given);
        problems += converted.problems;
        for (const line of converted.text.split("\n")) expect(line).toMatch(/^[\P{C}]*$/u);
      }),
    );
    expect(problems).toBeGreaterThan(0);
  });

  test("many problems share one comment", () => {
    const paths = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`/A${index}`, { get: {} }]),
    );
    const { problems, reasons } = convert(described(paths));
    expect([problems, reasons.length, reasons.at(-1)]).toEqual([5_000, 2_000, "more than is shown here."]);
  });
});
