import { deep, deepAndWide, numbered, repeated } from "./bodies.ts";

const SERVICES = '{"services":{';
const SERVICE = `${SERVICES}"a":{"url":"http://a:1",`;
const ROUTES = `${SERVICE}"user":{"routes":[`;
const ROUTES_END = "]}}}}";
const ROUTE = `${ROUTES}{"path":"/a",`;
const ROUTE_END = `}${ROUTES_END}`;
const YAML_ROUTES = "services:\n  a:\n    url: http://a:1\n    user:\n      routes:\n";

/** Returns JSON documents of about `size` bytes that are costly to check. Most are invalid. */
export function jsonDocuments(size: number): Record<string, { text: string; valid?: true }> {
  const inRoutes = (part: (n: number) => string) => numbered(size, part, ROUTES, ROUTES_END);
  const inPath = (filling: string) =>
    `${ROUTES}{"path":"/${repeated(size - 200, filling)}","methods":["GET"]}${ROUTES_END}`;
  return {
    routes: { text: inRoutes((n) => `{"path":"/r/${n}/{id}","methods":["GET"]}`), valid: true },
    "routes with everything": {
      text: inRoutes(
        (n) =>
          `{"path":"/r/${n}/{id}","upstream":"/x/{path.id}","methods":["GET"],"required_labels":["a:read","b"],"rate_limit":{"requests":5,"window_seconds":60}}`,
      ),
      valid: true,
    },
    "services without routes": {
      text: numbered(size, (n) => `"k${n}":{"url":"http://a:1","user":{"routes":[]}}`, SERVICES, "}}"),
      valid: true,
    },
    "routes that are wrong": { text: inRoutes((n) => `{"path":"/R/${n}/","methods":["get"]}`) },
    "routes that are empty": { text: inRoutes(() => "{}") },
    "routes with all the params": {
      text: inRoutes(
        (n) =>
          `{"path":"/${n}${Array.from({ length: 33 }, (_, k) => `/{p${k}}`).join("")}","methods":["GET"]}`,
      ),
    },
    "many prefixes of 962 bytes": {
      text: numbered(
        size,
        (s) =>
          `"s${s}":{"url":"http://a:1","user":{"route_prefix":"/${s}/${"a/".repeat(480)}b","routes":[${Array.from({ length: 900 }, (_, n) => `{"path":"/${n}","methods":["GET"]}`).join(",")}]}}`,
        SERVICES,
        "}}",
      ),
    },
    "fields of the document": { text: numbered(size, (n) => `"k${n}":1`, "{", "}") },
    methods: { text: numbered(size, () => '"GET"', `${ROUTE}"methods":[`, `]${ROUTE_END}`) },
    "a long path": { text: inPath("a") },
    "a path of braces": { text: inPath("{") },
    "an upstream of braces": {
      text: `${ROUTE}"upstream":"/${repeated(size - 200, "{a")}","methods":["GET"]${ROUTE_END}`,
    },
    "a long url": {
      text: `${SERVICES}"a":{"url":"http://${repeated(size - 200, "a.")}","user":{"routes":[]}}}}`,
    },
    "a long name": { text: `${SERVICES}"${"n".repeat(size - 30)}":{}}}` },
    escapes: { text: repeated(size, "\\n", '{"services":"', '"}') },
    "one name": { text: numbered(size, () => '"a":{}', SERVICES, "}}") },
    "deep list": { text: deep(size) },
    "deep and wide": { text: deepAndWide(size) },
    "a list of lists": { text: repeated(size, "[],", "[", "[]]") },
    "white space": { text: repeated(size, " ", '{"services":', "{}}") },
    "not JSON at its end": { text: numbered(size, (n) => `"k${n}":{"url":1}`, SERVICES, "}]") },
  };
}

/** Returns YAML documents of about `size` bytes that are costly to check. Most are invalid. */
export function yamlDocuments(size: number): Record<string, { text: string; valid?: true }> {
  const lines = (part: (n: number) => string, start = "") => ({
    text: numbered(size, part, start, "", "\n"),
  });
  const each = (unit: string) => ({ text: repeated(size, unit) });
  return {
    "block routes": {
      ...lines((n) => `        - path: /r/${n}\n          methods: [GET]`, YAML_ROUTES),
      valid: true,
    },
    "flow routes": {
      ...lines((n) => `        - {path: "/r/${n}/{id}", methods: [GET], audit: true}`, YAML_ROUTES),
      valid: true,
    },
    "services of one alias": lines(
      (n) => `  k${n}: {url: "http://a:1", user: *u}`,
      'services:\n  k: {url: "http://a:1", user: &u {routes: [{path: /a, methods: [GET]}]}}\n',
    ),
    "a billion": {
      text: Array.from(
        { length: 60 },
        (_, n) =>
          `l${n}: &l${n} [${Array(30)
            .fill(n === 0 ? "x" : `*l${n - 1}`)
            .join(", ")}]`,
      ).join("\n"),
    },
    anchors: lines((n) => `- &a${n} 1`),
    aliases: lines(() => "- *a", "- &a 1\n"),
    tags: lines(() => "- !!str 1"),
    keys: lines((n) => `k${n}: 1`),
    "a flow list": { text: repeated(size, "a,", "[", "]") },
    "a flow map": { text: numbered(size, (n) => `a${n}`, "{", "}") },
    "complex keys": each("? a\n"),
    dashes: each("- "),
    "open brackets": each("["),
    documents: each("---\n"),
    directives: each("%YAML 1.2\n"),
    comments: each("# x\n"),
    "a comment after each": lines((n) => `a${n}: 1 #`),
    "tabs and colons": each("\t:\n"),
    "a quoted text of lines": { text: repeated(size, "\n", '"', '"') },
    "an open quote": { text: repeated(size, "a ", '"') },
    "a plain text of lines": { text: repeated(size, " b\n", "a\n") },
    "a block text": { text: repeated(size, " b\n", "a: |\n") },
    numbers: lines((n) => `- ${n}.${n}e${n % 300}`),
    "a syntax error at the end": { text: `${numbered(size - 10, (n) => `k${n}: 1`, "", "", "\n")}\n]` },
    "levels of indentation": lines((n) => `${"  ".repeat(n % 60)}a:`),
  };
}
