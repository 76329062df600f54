/** Tests of where the client sends requests. */
import { describe, expect, test } from "bun:test";
import { apiKey, createClient } from "@ostiary/client";
import { rejection } from "../../support/rejection.ts";
import { callsWith } from "./network.ts";

const fine = () => Response.json({ id: "m" });
const memberAt = (member_id: string) => ({ params: { path: { member_id } } });

describe("a base URL", () => {
  // CL-7
  test.each([
    ["https://api.test", "https://api.test/org"],
    ["https://api.test/", "https://api.test/org"],
    ["https://api.test/v1", "https://api.test/v1/org"],
    ["https://api.test/v1//", "https://api.test/v1/org"],
    ["HTTP://API.test:80/a/../v1/", "http://api.test/v1/org"],
  ])("%s is where calls go", async (baseUrl, url) => {
    const { options, sent } = callsWith([fine, fine]);
    const client = createClient({ ...options, baseUrl });
    await client.GET("/org");
    await client.fetch("/org");
    expect(sent.map((request) => request.url)).toEqual([url, url]);
  });

  // CL-7
  test.each([
    "",
    "/v1",
    "api.test",
    "ftp://api.test",
    "javascript:alert(1)",
    "https://user:secret@api.test",
    "https://api.test?x=1",
    "https://api.test/#top",
  ])("%j is refused", (baseUrl) => {
    expect(() => createClient({ baseUrl })).toThrow(
      new TypeError("baseUrl must be an http or https URL without credentials, query and fragment."),
    );
  });
});

// CL-7
test.each(["timeoutMs", "retries", "waitMaxMs", "bodyBytesMax"])("the option %s must be a number", (name) => {
  for (const value of [-1, Number.NaN])
    expect(() => createClient({ baseUrl: "https://api.test", [name]: value })).toThrow(
      new TypeError(`${name} must be a number that is not negative.`),
    );
});

describe("a parameter of a path", () => {
  // CL-7
  test.each([
    ["a/b", "a%2Fb"],
    ["../../user", "..%2F..%2Fuser"],
    ["a?b=c#d", "a%3Fb%3Dc%23d"],
    ["%2e%2e", "%252e%252e"],
    ["$& {member_id}", "%24%26%20%7Bmember_id%7D"],
    ["…", "%E2%80%A6"],
    ["...", "..."],
  ])("%j stays one segment", async (value, segment) => {
    const { options, sent } = callsWith([fine]);
    await createClient(options).GET("/org/members/{member_id}", memberAt(value));
    expect(sent[0]?.url).toBe(`https://api.test/org/members/${segment}`);
  });

  // CL-7
  test.each([
    ["empty", ""],
    ["one dot", "."],
    ["two dots", ".."],
    ["half a character", "\ud800"],
  ])("that is %s is refused before anything is sent", async (_, value) => {
    const { options, sent } = callsWith([]);
    const error = await rejection(createClient(options).GET("/org/members/{member_id}", memberAt(value)));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain("member_id");
    expect(sent).toEqual([]);
  });

  // CL-7
  test("that is missing is refused, also for callers without types", async () => {
    const { options, sent } = callsWith([]);
    const untyped: { GET(path: string, init?: object): Promise<unknown> } =
      createClient<Record<string, { get: object }>>(options);
    for (const init of [
      undefined,
      {},
      { params: {} },
      { params: { path: { other: "x" } } },
      { params: { path: { member_id: {} } } },
    ])
      expect(await rejection(untyped.GET("/org/members/{member_id}", init))).toBeInstanceOf(TypeError);
    expect(sent).toEqual([]);
  });
});

describe("the credential", () => {
  // CL-6
  test.each(["@evil.test/", ".evil.test/", ":1@evil.test/", "https://evil.test/", ""])(
    "is not sent for the path %j, which would lead to another host",
    async (path) => {
      const { options, sent } = callsWith([]);
      const client = createClient({ ...options, credential: apiKey("key") });
      expect(await rejection(client.fetch(path))).toBeInstanceOf(TypeError);
      const untyped: { GET(path: string): Promise<unknown> } =
        createClient<Record<string, { get: object }>>(options);
      expect(await rejection(untyped.GET(path))).toBeInstanceOf(TypeError);
      expect(sent).toEqual([]);
    },
  );

  // CL-6
  test("stays at the base URL's host for a path that begins with two slashes", async () => {
    const { options, sent } = callsWith([fine]);
    await createClient({ ...options, credential: apiKey("key") }).fetch("//evil.test/");
    expect(sent[0]).toMatchObject({ url: "https://api.test//evil.test/", redirect: "manual" });
  });

  // CL-6
  test("is not sent to the base URL of a single call", async () => {
    const { options, sent } = callsWith([]);
    const client = createClient({ ...options, credential: apiKey("key") });
    expect(await rejection(client.GET("/org", { baseUrl: "https://evil.test" }))).toBeInstanceOf(TypeError);
    expect(sent).toEqual([]);
  });
});
