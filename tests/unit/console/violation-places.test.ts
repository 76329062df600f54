import { describe, expect, test } from "bun:test";
import { placeViolations } from "../../../apps/console/apply/violation-places.ts";

const DOCUMENT = `services:
  widgets:
    url: ftp://widgets:8080
    rate_limits:
      a.b: { requests: 0, window_seconds: 60 }
    user:
      routes:
        - path: /a
          methods: [GET]
        - path: /b
          methods:
            GOT: {}
  a.b.c:
    url: 5
`;

const at = (path: string, document = DOCUMENT, message = "wrong") => {
  const [violation] = placeViolations(document, [{ path, message }]);
  const place = violation?.place;
  return place ? [place.line, document.slice(place.start, place.end)] : null;
};

describe("the place of a violation", () => {
  test.each<[string, [number, string]]>([
    ["services.widgets.url", [3, "ftp://widgets:8080"]],
    ["services.widgets.user.routes[0].methods[0]", [9, "GET"]],
    ["services.widgets.user.routes[1].methods.GOT", [12, "GOT"]],
    ["services.widgets.rate_limits.a.b.requests", [5, "0"]],
    ["services.a.b.c.url", [14, "5"]],
    // A missing field is reported at the key of its parent.
    ["services.widgets.user.routes[1].methods.GOT.rate_limit", [12, "GOT"]],
    ["services.a.b.c.user", [13, "a.b.c"]],
    ["services.widgets.user.routes[7].path", [7, "routes"]],
  ])("at %p is its value, or the nearest parent that exists", (path, place) => {
    expect(at(path)).toEqual(place);
  });

  test("is found in JSON as well", () => {
    expect(at("services.w.url", '{\n  "services": {\n    "w": { "url": 1 } } }')).toEqual([3, "1"]);
  });

  test("is the line that the message names if the document cannot be parsed", () => {
    expect(at("", "a: [\nb: }", "The document is not YAML at line 2, column 4.")).toEqual([2, "b: }"]);
  });

  test.each([
    ["", ""],
    ["services", "no map at all"],
    ["services.x", "services: &a [*a]"],
    ["line", "at line 999"],
    ["__proto__.constructor", "__proto__: { constructor: 1 }"],
  ])("at %p in %p is computed without an exception", (path, document) => {
    expect(placeViolations(document, [{ path, message: "at line 999" }])).toHaveLength(1);
  });
});
