/** Tests of the validation of methods and upstreams. */
import { pathsService, serviceWith } from "./fixtures.ts";
import { check, GET, prefixed, route } from "./rules-suite.ts";

const ROUTE = "organization.routes[0]";
const METHODS = `${ROUTE}.methods`;
const UNDER_EACH = /under each method/;
const AT = `${ROUTE}.upstream`;
const PUBLIC_UPSTREAM = "public.routes[0].upstream";
/** Returns a service with a route for each of these methods of one path. */
const twice = (...all: unknown[]) =>
  serviceWith(
    "organization",
    all.map((methods) => ({ path: "/a", methods })),
  );
const MAP = { methods: { GET: {} } };
const gets = (scope: string, path: string) => serviceWith(scope, [{ path, ...GET }]);

// RG-8, RG-9, RG-10, RG-27
check(
  "the validation of methods",
  [
    ["a list of all seven", route({ methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] })],
    [
      "a map of all seven",
      route({ methods: { GET: {}, POST: null, PUT: {}, PATCH: {}, DELETE: {}, HEAD: {}, OPTIONS: {} } }),
    ],
    ["one path with different methods in two routes", twice(["GET"], ["POST"])],
    ["one shape with different names of params", pathsService("/a/{x}", "/a/{y}")],
  ],
  [
    ["none", route({}), METHODS, /Set methods/],
    ["a string", route({ methods: "GET" }), METHODS, /a list of methods, or a map/],
    ["an empty list", route({ methods: [] }), METHODS, /at least one/],
    ["an empty map", route({ methods: {} }), METHODS, /at least one/],
    ["an unknown method in a list", route({ methods: ["GET", "TRACE"] }), `${METHODS}[1]`, /one of GET/],
    ["an unknown method in a map", route({ methods: { CONNECT: {} } }), `${METHODS}.CONNECT`, /one of GET/],
    ["lower case in a list", route({ methods: ["get"] }), `${METHODS}[0]`, /upper case: `GET`/],
    ["a map in a list", route({ methods: ["GET", { POST: {} }] }), `${METHODS}[1]`, /only names/],
    [
      "labels beside a map",
      route({ ...MAP, required_labels: ["a"] }),
      `${ROUTE}.required_labels`,
      UNDER_EACH,
    ],
    ["audit beside a map", route({ ...MAP, audit: true }), `${ROUTE}.audit`, UNDER_EACH],
    ["a verb that is not an object", route({ methods: { GET: true } }), `${METHODS}.GET`, /or no fields/],
    [
      "upstream under a verb",
      route({ methods: { GET: { upstream: "/x" } } }),
      `${METHODS}.GET.upstream`,
      /Unknown field/,
    ],
    ["a method twice in a list", route({ methods: ["GET", "GET"] }), `${METHODS}[1]`, /twice/],
    [
      "a path and method twice, list and list",
      twice(["GET"], ["POST", "GET"]),
      "organization.routes[1].methods[1]",
      /GET \/a is declared already, at organization\.routes\[0\]/,
    ],
    [
      "a path and method twice, list and map",
      twice(["GET"], { GET: {} }),
      "organization.routes[1].methods.GET",
      /declared already/,
    ],
    [
      "a path and method twice, through a prefix",
      { ...gets("user", "/org/a"), organization: { route_prefix: "/org", routes: [{ path: "/a", ...GET }] } },
      "organization.routes[0].methods[0]",
      /declared already, at user\.routes\[0\]/,
    ],
  ],
);

const upstream = (template: unknown, scope = "organization", path = "/widgets/{widget_id}") =>
  serviceWith(scope, [{ path, upstream: template, ...GET }]);

// RG-21, RG-22
check(
  "the validation of upstreams",
  [
    ["none", route(GET)],
    ["a trailing slash", upstream("/v1/widgets/")],
    ["the id of the organization", upstream("/o/{subject.organization_id}/w/{path.widget_id}")],
    ["the id of the user", upstream("/u/{subject.user_id}", "user")],
    ["both ids of a member", upstream("/o/{subject.organization_id}/m/{subject.member_id}", "member")],
    ["a placeholder within a segment", upstream("/w-{path.widget_id}.json")],
    ["a param of the prefix", prefixed("/o/{org}", "/w", { upstream: "/x/{path.org}" })],
    ["{organization_id} as a resource of a user route", gets("user", "/o/{organization_id}")],
    ["{user_id} as a resource of an organization route", gets("organization", "/u/{user_id}")],
    ["subject fields as params of a public route", pathsService("/{user_id}/{organization_id}/{member_id}")],
  ],
  [
    ["a number", upstream(7), AT, /absolute path/],
    ["an empty string", upstream(""), AT, /starts with `\/`/],
    ["a url", upstream("http://other/x"), AT, /starts with `\/`/],
    ["a query", upstream("/a?b"), AT, /cannot contain `\?`/],
    ["a fragment", upstream("/a#b"), AT, /cannot contain `#`/],
    ["a space", upstream("/a b"), AT, /visible ASCII/],
    ["a line break", upstream("/a\r\nHost: x"), AT, /visible ASCII/],
    ["a backslash", upstream("/a\\b"), AT, /cannot contain/],
    ["a dot segment", upstream("/a/../b"), AT, /`\.` or `\.\.` segment/],
    ["an empty segment", upstream("//evil"), AT, /cannot have an empty segment/],
    ["a template of 4097 bytes", upstream(`/${"a".repeat(4096)}`), AT, /at most 4096 bytes/],
    ["a bare placeholder", upstream("/w/{widget_id}"), AT, /\{path\.…\}/],
    ["an empty placeholder", upstream("/w/{}"), AT, /is ambiguous/],
    ["an open brace", upstream("/w/{path.widget_id"), AT, /brace/],
    ["an unknown subject field", upstream("/{subject.role}"), AT, /\{subject\.organization_id\}/],
    ["a field of another scope", upstream("/{subject.member_id}"), AT, /use \{subject\.organization_id\}/],
    [
      "user_id on a member route",
      upstream("/{subject.user_id}", "member"),
      "member.routes[0].upstream",
      /use .*organization_id.*member_id/,
    ],
    ["a subject on a public route", upstream("/{subject.user_id}", "public"), PUBLIC_UPSTREAM, /no subject/],
    ["an unknown param", upstream("/{path.other}"), AT, /is not a param.*\{path\.widget_id\}/],
    ["a param of a path without params", upstream("/{path.x}", "organization", "/a"), AT, /no params/],
    ["{user_id} in a user path", gets("user", "/u/{user_id}"), "user.routes[0].path", /\{user_id\} cannot/],
    [
      "{organization_id} in an organization path",
      gets("organization", "/o/{organization_id}"),
      `${ROUTE}.path`,
      /\{organization_id\} cannot/,
    ],
    [
      "a subject field in a prefix",
      { url: "http://a:1", user: { route_prefix: "/{user_id}", routes: [] } },
      "user.route_prefix",
      /\{user_id\} cannot/,
    ],
  ],
);
