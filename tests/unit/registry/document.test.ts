import { describe, expect, test } from "bun:test";
import { ApiError } from "@ostiary/lib/domain/errors";
import { readDocument, readJson } from "@ostiary/registry/document";
import { rejection } from "../../support/index.ts";

const BYTES_MAX = 5_000_000;

function request(body: string | Uint8Array<ArrayBuffer>, type?: string): Request {
  const headers = type === undefined ? undefined : { "Content-Type": type };
  // A string body would set a content type by itself, so the body is sent as bytes.
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return new Request("http://registry/apply", { method: "POST", body: bytes, headers });
}

const parsed = async (of: Request) => (await readDocument(of, BYTES_MAX))();
const read = (body: string, type?: string) => parsed(request(body, type));

async function refusal(body: string | Uint8Array<ArrayBuffer>, type?: string): Promise<string> {
  const error = await rejection(parsed(request(body, type)));
  if (!(error instanceof ApiError)) throw error;
  expect(error.code).toBe("VALIDATION_ERROR");
  return error.message;
}

describe("the body of apply", () => {
  // RG-34
  test.each([
    "application/json",
    "Application/JSON; charset=utf-8",
    "application/yaml",
    "application/x-yaml",
    "text/yaml",
    "text/yaml;charset=utf-8",
    undefined,
  ])("with type %p may be JSON", async (type) => {
    expect(await read('{"services": {"a": 1}}', type)).toEqual({ services: { a: 1 } });
  });

  // RG-34
  test.each(["application/yaml", "application/x-yaml", "TEXT/YAML", undefined])(
    "with type %p may be YAML",
    async (type) => {
      expect(await read("services:\n  a: 1", type)).toEqual({ services: { a: 1 } });
    },
  );

  // RG-34
  test.each([
    "text/plain",
    "application/xml",
    "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded",
    "application/jsonx",
    "*/*",
  ])("with type %p is refused, and the message lists the accepted types", async (type) => {
    const message = await refusal("{}", type);
    expect(message).toContain("application/json, application/yaml, application/x-yaml, text/yaml");
  });

  // RG-36
  test.each(["application/json", "application/yaml", undefined])(
    "with type %p must not be empty",
    async (type) => {
      for (const body of ["", "  ", "\n\t\r\n", "\ufeff"]) {
        expect(await refusal(body, type)).toBe("The body is empty.");
      }
    },
  );

  // RG-36, ER-12
  test.each(["application/json", "application/yaml"])("with type %p must be UTF-8", async (type) => {
    for (const bytes of [[0x22, 0xff, 0x22], [0xc3], [0x22, 0xed, 0xa0, 0x80, 0x22], [0xff, 0xfe, 0x7b, 0]]) {
      expect(await refusal(new Uint8Array(bytes), type)).toBe("The body is not valid UTF-8.");
    }
  });

  // ER-12
  test("with type JSON must be JSON, not YAML", async () => {
    for (const body of ["services: {}", "{'a': 1}", "{a: 1}", '{"a": 1,}', '{"a": 1} {"b": 2}', "NaN", "{"]) {
      expect(await refusal(body, "application/json")).toStartWith("The JSON is not valid at line 1, column ");
    }
    expect(await refusal('\ufeff{\r\n  "a": 1,\r\n  "b" 2\r\n}', "application/json")).toBe(
      "The JSON is not valid at line 3, column 7: a colon is missing after the key.",
    );
  });

  // RG-40
  test("over the maximum size gets 413", async () => {
    const error = await rejection(readDocument(request("x".repeat(101)), 100));
    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE", details: { max_size_bytes: 100 } });
  });
});

describe("a JSON body", () => {
  // RG-37
  test.each([
    '{"a": 1, "a": 2}',
    '{"a": 1, "\\u0061": 1}',
    '{"x": [{"a": {"b": 1, "b": 1}}]}',
    '{"__proto__": 1, "__proto__": 2}',
    '{"a" : 1,\n"b:": "\\"a\\":", "a"\t: 3}',
  ])("with a repeated key in one object is refused: %s", async (body) => {
    expect(await refusal(body, "application/json")).toBe("The JSON has an object with the same key twice.");
  });

  // RG-37, ER-13
  test("that is nested more than 64 levels deep is refused, even if it is malformed", async () => {
    const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}${"]}".repeat(depth / 2)}`;
    for (const type of ["application/json", "application/yaml"]) {
      expect(await read(nested(64), type)).toBeObject();
      for (const text of [nested(66), nested(1_000_000), nested(1_000_000).slice(0, -1)]) {
        expect(await refusal(text, type)).toBe(
          "The document is nested more than 64 levels deep: flatten it.",
        );
      }
    }
  });

  test("may have __proto__ as a normal key", async () => {
    const value = await read('{"__proto__": {"polluted": 1}}', "application/json");
    expect(Object.keys(Object(value))).toEqual(["__proto__"]);
    expect(Object(value).polluted).toBeUndefined();
  });
});

describe("the body of PUT", () => {
  // RG-35
  test("must be JSON, even without a content type", async () => {
    expect(await readJson(request('{"a": 1}'), BYTES_MAX)).toEqual({ a: 1 });
    expect(await readJson(request('{"a": 1}', "application/json"), BYTES_MAX)).toEqual({ a: 1 });
    for (const type of ["application/yaml", "text/plain"]) {
      const error = await rejection(readJson(request('{"a": 1}', type), BYTES_MAX));
      expect(error).toMatchObject({
        code: "VALIDATION_ERROR",
        message: "Send the body as application/json.",
      });
    }
    expect(await rejection(readJson(request("a: 1"), BYTES_MAX))).toMatchObject({ code: "VALIDATION_ERROR" });
  });
});
