import { expect, test } from "bun:test";
import { join } from "node:path";
import { ApiError, type ErrorCode, envelope, errorCodes, wireCode } from "@ostiary/lib/domain/errors";
import { ROOT } from "../../support/root.ts";

const text = await Bun.file(join(ROOT, ".github/specification/errors.md")).text();
const codes = Object.keys(errorCodes).filter((code): code is ErrorCode => code in errorCodes);

// ER-7
test("codes, statuses and generic messages match the specification", () => {
  const table = text.split("\n").flatMap((line) => {
    const [, code, status, message] = /^\| ([A-Z_]+) +\| (\d+) +\| (.+?) +\|/.exec(line) ?? [];
    return code === undefined ? [] : [{ code, status: Number(status), message }];
  });
  const own = codes.map((code) => ({ code: wireCode(code), ...errorCodes[code] }));
  expect(table).toEqual(own);
});

// ER-1, ER-2
test.each(codes)("%s has the fields of the envelope, and the type of its status", (code) => {
  const { status } = errorCodes[code];
  const isApiError = status === 429 || status >= 500;
  const { error, ...rest } = envelope(new ApiError(code), "request-1");
  expect(rest).toEqual({});
  expect(error).toEqual({
    type: isApiError ? "api_error" : "invalid_request_error",
    code: wireCode(code),
    message: errorCodes[code].message,
    request_id: "request-1",
    details: null,
  });
});
