import { describe, expect, test } from "bun:test";
import { isOneSegment, type SubjectIds, upstreamPath } from "@ostiary/lib/domain/routes";
import fc from "fast-check";
import { runs } from "../../support/runs.ts";
import { wordsOf } from "../../support/words.ts";
import { serviceWith, tableOf } from "./fixtures.ts";

const TEMPLATE = "/o/{subject.organization_id}/m/{subject.member_id}/w-{path.w}.json";
const SUBJECT: SubjectIds = { organization_id: "01ORG", member_id: "01MEM" };

function call(path: string, upstream: string | undefined, subject: SubjectIds = SUBJECT) {
  const table = tableOf(
    serviceWith("member", [
      { path: "/w/{w}", methods: ["GET"], ...(upstream !== undefined && { upstream }) },
    ]),
  );
  const match = table.match("GET", path);
  return match && upstreamPath(match, path, subject);
}

describe("the upstream path", () => {
  // GW-80
  test("is the template with the ids, and the params as received", () => {
    expect(call("/w/a%20b%C3%A9:;,", TEMPLATE)).toEqual({ path: "/o/01ORG/m/01MEM/w-a%20b%C3%A9:;,.json" });
  });

  // GW-9
  test("is the path of the request if there is no template", () => {
    expect(call("/w/a%20b", undefined)).toEqual({ path: "/w/a%20b" });
  });

  // GW-79
  test.each(
    wordsOf(`
      .. %2e %2E%2e .%2E a%2Fb a%2fb a%5Cb a%3Fb a%23b %2F ..; .; .;x=1 ; ;x %3B %3bx %2e%2e;x
      .%2E%3Bx ..%3b %2E; a;%2F ;%2e%2e%2f %00 a%0a %0D a%1Fb %7f a;%00
    `),
  )("is refused for the param %s, with or without a template", (value) => {
    for (const upstream of [TEMPLATE, "/fixed", undefined]) {
      expect(call(`/w/${value}`, upstream)).toEqual({ error: "path_param" });
    }
  });

  test.each(["%2e%2e%2e", "%252e%252e", "a;x", "...;x", "%C0%AE"])("may contain the param %s", (value) => {
    expect(call(`/w/${value}`, "/x/{path.w}")).toEqual({ path: `/x/${value}` });
  });

  // GW-79
  test.each([
    ["/docs/{a}/{b}", undefined, "/docs/internal;x/y", false],
    ["/docs/{a}/{b}", undefined, "/docs/x/y;z", true],
    ["/docs/{a}/{b}", undefined, "/docs/x%253Bx/y", true],
    ["/docs/{a}/comments", undefined, "/docs/5;x/comments", false],
    ["/{a}", "/store/{path.a}/raw", "/5;x", false],
    ["/{a}", "/store/{path.a}", "/5;x", true],
    ["/{a}", "/store/{path.a}.json", "/5;x", true],
    ["/{a}", "/{path.a}/{path.a}", "/5;x", false],
    ["/{a}/{b}", "/store/{path.b}/{path.a}", "/5;x/y", true],
    ["/{a}/{b}", "/store", "/5;x/y", true],
  ])("of %s with the template %p admits %s: %p", (path, upstream, request, isAdmitted) => {
    const table = tableOf(
      serviceWith("public", [{ path, methods: ["GET"], ...(upstream !== undefined && { upstream }) }]),
    );
    const match = table.match("GET", request);
    expect(match && "path" in upstreamPath(match, request, {})).toBe(isAdmitted);
  });

  // GW-81
  test.each(["", ".", "..", "a/b", "a\\b", "a?b", "a#b", "a%2Fb", "%", "%/x", "a b", "a\n", "é"])(
    "is refused for the subject id %j",
    (id) => {
      expect(call("/w/a", TEMPLATE, { ...SUBJECT, member_id: id })).toEqual({ error: "subject" });
    },
  );

  // GW-81
  test("is refused only if the subject lacks an id that the template names", () => {
    expect(call("/w/a", TEMPLATE, { organization_id: "o" })).toEqual({ error: "subject" });
    expect(call("/w/a", "/x", {})).toEqual({ path: "/x" });
  });
});

// GW-79
test("a value is one segment exactly if it is one segment when it is decoded and cut at its first semicolon", () => {
  const part = fc.constantFrom(
    ..."a . %2e %2E ; %3b %3B %2f / %5C \\ ? %3F # %23 %25 %61 %00 %7f".split(" "),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
      const value = parts.join("");
      const decoded = decodeURIComponent(value);
      const [kept = ""] = decoded.split(";", 1);
      const plain = !["", ".", ".."].includes(kept) && !/[/\\?#]|\p{Cc}/u.test(decoded);
      expect(isOneSegment(value)).toBe(plain);
    }),
    { numRuns: runs(300) },
  );
});
