/** Tests that no spelling of a path chooses another route than the plain spelling (GW-205, GW-206). */
import { describe, expect, test } from "bun:test";
import { findRouteConflicts, nearestRoutes, PathPrefixes, routeShape } from "@ostiary/lib/domain/routes";
import fc from "fast-check";
import { foldedSegment } from "../../../lib/domain/routes/folded-segment.ts";
import { runs } from "../../support/runs.ts";
import { wordsOf } from "../../support/words.ts";
import { spell } from "./arbitraries.ts";
import { pathsService, serviceWith, storedServices, tableOf } from "./fixtures.ts";

const served = (paths: string[], request: string) =>
  tableOf(pathsService(...paths)).match("GET", request)?.route.path ?? null;

// GW-205
describe("the folded form", () => {
  test.each([
    ["internal", "internal"],
    ["%69nternal", "internal"],
    ["INTERNAL", "internal"],
    ["internal;x", "internal"],
    ["internal;", "internal"],
    ["internal%3Bx", "internal"],
    ["internal%3bx;y", "internal"],
    ["%3B", ""],
    ["", ""],
    ["..;x", ".."],
    ["%2E%2e%3b", ".."],
    [".%2e", ".."],
    ["caf%C3%A9", "caf%c3%a9"],
    ["a%2Fb", "a%2fb"],
    // Only one level of escapes is decoded.
    ["%2569nternal", "%2569nternal"],
    // Services also lower other letters, and the case of some of them is an ASCII letter.
    ["to%E2%84%AAen", "token"],
    ["%C4%B0nternal", "internal"],
    ["%C4%B1nternal", "internal"],
    ["u%C5%BFer", "user"],
    ["%CE%A3", "%cf%83"],
    // Bytes that are no UTF-8 stay bytes.
    ["%C0%AE%C0%AE", "%c0%ae%c0%ae"],
    ["%C3", "%c3"],
    ["internal%00", "internal%00"],
  ])("of %j is %j", (segment, folded) => {
    expect(foldedSegment(segment)).toBe(folded);
    expect(foldedSegment(folded)).toBe(folded);
  });

  const byte = fc.integer({ min: 0, max: 255 });
  const hex = (value: number, isUpper: boolean) => {
    const digits = value.toString(16).padStart(2, "0");
    return `%${isUpper ? digits.toUpperCase() : digits}`;
  };

  /** Returns the bytes that a service reads when it cuts, decodes and ignores case. */
  function bytesRead(segment: string): string {
    const [kept = ""] = segment.split(/;|%3b/i, 1);
    const decoded = kept.replace(/%(..)/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
    const lower = decoded.replace(/[A-Z]/g, (ascii) => ascii.toLowerCase());
    return lower.replace(/[\x80-\xff]+/g, caselessBytes);
  }

  /** Returns the bytes without differences of case if they are UTF-8, else unchanged. */
  function caselessBytes(bytes: string): string {
    const text = Buffer.from(bytes, "latin1").toString("utf8");
    if (Buffer.from(text, "utf8").toString("latin1") !== bytes) return bytes;
    const caseless = [...text].map((each) =>
      each === "İ" ? "i" : each.toLowerCase().toUpperCase().toLowerCase(),
    );
    return Buffer.from(caseless.join(""), "utf8").toString("latin1");
  }

  /** Characters of two to four bytes, also such whose upper or lower case has another length. */
  const letter = fc.constantFrom(..."àÀσΣςıİſKÅåßẞŉΐﬁ𐐀𐐨").map((character) => encodeURIComponent(character));
  const plain = fc.constantFrom(..."aAbB.;+-@");
  const escaped = fc.tuple(byte, fc.boolean()).map(([value, isUpper]) => hex(value, isUpper));
  const part = fc.oneof(letter, escaped, plain, fc.constantFrom(...wordsOf("%3B %3b %2f %41 %61 %2E %25")));
  /** Parts of two segments: two spellings of one part, which make equal segments common, or two parts. */
  const pair = fc.oneof(
    fc.tuple(part, part),
    part.map((each) => [each, each.toUpperCase()] as const),
    fc.tuple(plain, fc.boolean()).map(([each, isUpper]) => [each, hex(each.charCodeAt(0), isUpper)] as const),
  );
  const pairs = fc.array(pair, { minLength: 1, maxLength: 5 });

  test("is equal for two segments exactly if a service that cuts, decodes and ignores case reads equal bytes", () => {
    fc.assert(
      fc.property(pairs, (parts) => {
        const one = parts.map(([first]) => first).join("");
        const other = parts.map(([, second]) => second).join("");
        expect(foldedSegment(one) === foldedSegment(other)).toBe(bytesRead(one) === bytesRead(other));
        expect(bytesRead(foldedSegment(one))).toBe(bytesRead(one));
      }),
      { numRuns: runs(300) },
    );
  });
});

/** Other spellings of `internal`. */
const SPELLINGS = wordsOf(`
  %69nternal %49nternal interna%6C interna%6c INTERNAL Internal internal;x internal; internal;a=%2F
  internal%3Bx internal%3b %69NTERNAL;x %C4%B0nternal %c4%b1nternal INTERNAL%3b%C4%B0
`);

describe("a literal beside a param", () => {
  // GW-206
  test("serves its own spelling, and no other spelling reaches the literal or the param", () => {
    const paths = ["/docs/internal", "/docs/{page}"];
    expect(served(paths, "/docs/internal")).toBe("/docs/internal");
    expect(served(paths, "/docs/internals")).toBe("/docs/{page}");
    for (const segment of SPELLINGS) {
      expect([segment, served(paths, `/docs/${segment}`)]).toEqual([segment, null]);
    }
    expect(served(["/x/a/y", "/{p}/{q}/y"], "/x/A/y")).toBeNull();
  });

  // GW-13, GW-206
  test("matches with escapes in either case, and not with other escapes", () => {
    const paths = ["/caf%c3%a9", "/{x}"];
    expect(served(paths, "/caf%C3%A9")).toBe("/caf%c3%a9");
    expect(served(paths, "/caf%c3%A9")).toBe("/caf%c3%a9");
    for (const other of ["/CAF%C3%A9", "/c%61f%C3%A9", "/caf%C3%A9;x"])
      expect(served(paths, other)).toBeNull();
    expect(served(paths, "/cafe%CC%81")).toBe("/{x}");
    expect(served(["/-a", "/{x}"], "/%2Da")).toBeNull();
    expect(served(["/a+b", "/{x}"], "/a%2Bb")).toBeNull();
    expect(served(["/a%2bb", "/{x}"], "/a+b")).toBeNull();
    expect(served(["/a%2bb", "/{x}"], "/a%2Bb")).toBe("/a%2bb");
  });
});

// GW-207
describe("two literals with one folded form", () => {
  test("are one place: the route that takes precedence is served by its own spelling, the other one never", () => {
    const table = tableOf({
      ...serviceWith("public", [{ path: "/a", methods: ["GET"] }]),
      member: { routes: [{ path: "/a;x", methods: ["GET"] }] },
    });
    expect(table.match("GET", "/a")).toBeNull();
    expect(table.match("GET", "/a;x")?.route.scope).toBe("member");
  });

  test("conflict between two services", () => {
    const conflicts = findRouteConflicts(
      storedServices({ one: pathsService("/a/{x}/b"), other: pathsService("/a;v=1/{y}/b") }),
      [],
    );
    expect(conflicts.map(({ service, path, owner_path }) => [service, path, owner_path])).toEqual([
      ["other", "/a;v=1/{y}/b", "/a/{x}/b"],
    ]);
    expect(routeShape("/a%2bb/{x}")).toBe(routeShape("/a+b/{y}"));
    expect(routeShape("/a%2fb")).not.toBe(routeShape("/a/b"));
    expect(routeShape("/%7b%7d")).not.toBe(routeShape("/{x}"));
    expect(routeShape("/")).toBe("/");
  });
});

const part = fc.constantFrom(null, null, "a", "b", "a;x", "a%2bb", "a+b", "caf%c3%a9");
const parts = fc.array(part, { minLength: 1, maxLength: 4 });
const rows = fc.uniqueArray(fc.tuple(fc.constantFrom("GET", "POST"), parts), {
  maxLength: 20,
  selector: ([method, row]) => `${method} ${spell(row)}`,
});
const written = fc.constantFrom(
  ...wordsOf(`
    a b A %61 a;x a; a;X a%3Bx B;q c a+b a%2Bb a%2bb A+b a%2b%62
    caf%C3%A9 caf%c3%a9 CAF%C3%A9 %63af%C3%A9 %2561 %00
  `),
);
const requests = fc.array(
  fc.tuple(fc.constantFrom("GET", "POST", "HEAD", "get"), fc.array(written, { minLength: 1, maxLength: 4 })),
  { minLength: 20, maxLength: 30 },
);
type Row = readonly (string | null)[];

const REFUSED = Symbol("refused");

/**
 * Finds a route as GW-14 and GW-206 define it, by looking at all routes at each segment.
 *
 * @param candidates the routes of the request's method and depth
 * @param all the routes of every method and depth
 */
function naiveMatch(
  candidates: readonly Row[],
  all: readonly Row[],
  request: readonly string[],
  level = 0,
): Row | null | symbol {
  const segment = request[level];
  if (segment === undefined)
    return candidates.toSorted((one, two) => (spell(one) < spell(two) ? -1 : 1))[0] ?? null;
  const isAlike = (row: Row) => {
    const literal = row[level];
    return typeof literal === "string" && foldedSegment(literal) === foldedSegment(segment);
  };
  const alike = candidates.filter(isAlike);
  if (alike.length > 0) {
    const place = all.filter(isAlike);
    if (!place.some((row) => isWritten(row[level], segment))) return REFUSED;
    const found = naiveMatch(alike, place, request, level + 1);
    if (found !== null) return found;
  }
  const isParam = (row: Row) => row[level] === null;
  const others = candidates.filter(isParam);
  return others.length === 0 ? null : naiveMatch(others, all.filter(isParam), request, level + 1);
}

function isWritten(literal: string | null | undefined, segment: string): boolean {
  return literal === segment.replace(/%../g, (digits) => digits.toLowerCase());
}

function naive(
  routes: readonly (readonly [string, Row])[],
  method: string,
  request: readonly string[],
): string | null {
  const candidates = routes.filter(([own, row]) => own === method && row.length === request.length);
  const found = naiveMatch(
    candidates.map(([, row]) => row),
    routes.map(([, row]) => row),
    request,
  );
  if (found === null || typeof found === "symbol") return null;
  const isExact = found.every(
    (literal, level) => literal === null || isWritten(literal, request[level] ?? ""),
  );
  return isExact ? spell(found) : null;
}

// GW-12, GW-14, GW-206, GW-207
test("a route table agrees with a naive matcher on random spellings", () => {
  fc.assert(
    fc.property(rows, requests, (routes, calls) => {
      const table = tableOf(
        serviceWith(
          "public",
          routes.map(([method, row]) => ({ path: spell(row), methods: [method] })),
        ),
      );
      for (const [method, request] of calls) {
        const found = table.match(method, `/${request.join("/")}`)?.route.path ?? null;
        expect(found).toBe(naive(routes, method, request));
      }
    }),
    { numRuns: runs(300) },
  );
});

// RG-74
test("the nearest routes of a second spelling begin with the route of the plain spelling", () => {
  const table = tableOf(pathsService("/docs/internal", "/docs/{page}", "/docs/other"));
  for (const segment of SPELLINGS) {
    expect(nearestRoutes(table, `/docs/${segment}`)[0]?.path).toBe("/docs/internal");
  }
});

// RG-114
test("a prefix covers paths whose literals have the same folded forms", () => {
  const prefixes = new PathPrefixes(["/team+a", "/x;v=1/{y}"]);
  expect(["/team%2ba", "/team+a;v=2/b", "/x/1", "/x;v=2/1/z"].map((path) => prefixes.cover(path))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(["/team+", "/x;v=1", "/team+ab"].map((path) => prefixes.cover(path))).toEqual([false, false, false]);
});
