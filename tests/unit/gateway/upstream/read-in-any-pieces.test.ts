/** Tests that well-formed responses are read the same, whether they arrive whole or in pieces. */
import { describe, expect, test } from "bun:test";
import { cutAt, type ReadOptions, readResponse } from "./read-responses.ts";

const OK = "HTTP/1.1 200 OK\r\n";
/** Returns a response without a body that has these fields. */
const empty = (...fields: string[]) => `${OK}${[...fields, "Content-Length: 0"].join("\r\n")}\r\n\r\n`;
/** Returns a response with this length and body. */
const sized = (length: number, body = "") => `${OK}Content-Length: ${length}\r\n\r\n${body}`;
/** Returns a response that has only a status and these fields. */
const bare = (status: string, ...fields: string[]) => `HTTP/1.1 ${[status, ...fields].join("\r\n")}\r\n\r\n`;
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

const DIGITS = "0123456789";
/** The expected reading of a body that has not ended. */
const BROKEN = { body: "ok", complete: false, reusable: false };

interface Expected {
  status?: number;
  fields?: string[];
  body?: string;
  contentLength?: number | null;
  complete?: boolean;
  reusable?: boolean;
  timeoutMs?: number | null;
}

type Row = [what: string, bytes: string, expected: Expected, options?: ReadOptions];

const bodies: Row[] = [
  ["a body by its length", sized(2, "ok"), { body: "ok", contentLength: 2 }],
  ["an empty body", sized(0), { body: "", contentLength: 0 }],
  ["a length with leading zeros", `${OK}Content-Length: 0002\r\n\r\nok`, { body: "ok", contentLength: 2 }],
  ["a repeated length", `${OK}Content-Length: 2\r\ncontent-length:2\r\n\r\nok`, { body: "ok" }],
  ["a body that looks like a response", sized(OK.length, OK), { body: OK }],
  ["a chunked body", `${CHUNKED}2\r\nok\r\n0\r\n\r\n`, { body: "ok", contentLength: null }],
  ["several chunks", `${CHUNKED}1\r\no\r\n00a\r\nk123456789\r\n0000\r\n\r\n`, { body: "ok123456789" }],
  ["an empty chunked body", `${CHUNKED}0\r\n\r\n`, { body: "" }],
  [
    "chunk sizes in either case",
    `${CHUNKED}a\r\n${DIGITS}\r\nA\r\n${DIGITS}\r\n0\r\n\r\n`,
    { body: DIGITS + DIGITS },
  ],
  ["chunk extensions", `${CHUNKED}2;a;b=c;d="e;f"\r\nok\r\n0 \t;last\r\n\r\n`, { body: "ok" }],
  ["dropped trailers", `${CHUNKED}2\r\nok\r\n0\r\nX-A: 1\r\nX-B:\r\n\r\n`, { body: "ok", fields: [] }],
  ["CRLF within chunks", `${CHUNKED}6\r\n\r\n0\r\n\r\r\n0\r\n\r\n`, { body: "\r\n0\r\n\r" }],
  [
    "chunked in another case",
    `${OK}TRANSFER-ENCODING:\tChunked \r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    { body: "ok" },
  ],
  [
    "a body that ends with the connection",
    `${OK}\r\nok`,
    { body: "ok", contentLength: null, reusable: false },
    { ended: true },
  ],
  ["a body that has not ended", `${OK}\r\nok`, BROKEN],
  ["an incomplete body", sized(3, "ok"), BROKEN],
];

const withoutBody: Row[] = [
  ["a response to HEAD", sized(5), { contentLength: 5, reusable: false }, { method: "HEAD" }],
  ["a chunked response to HEAD", CHUNKED, { reusable: false }, { method: "HEAD" }],
  ["204", bare("204 No Content"), { status: 204 }],
  [
    "204 with length 0",
    bare("204 No Content", "Content-Length: 0"),
    { status: 204, contentLength: null, fields: [], reusable: false },
  ],
  ["304", bare("304 Not Modified"), { status: 304, contentLength: null }],
  [
    "304 with a length",
    bare("304 Not Modified", "Content-Length: 5"),
    { status: 304, contentLength: 5, reusable: false },
  ],
  [
    "304 that is chunked",
    bare("304 Not Modified", "Transfer-Encoding: chunked"),
    { status: 304, contentLength: null, reusable: false },
  ],
];

const connections: Row[] = [
  ["Connection: close", empty("Connection: close"), { reusable: false }],
  [
    "close among others",
    empty("Connection: x-a , CLOSE", "X-A: 1", "X-B: 2"),
    { reusable: false, fields: ["x-b", "2"] },
  ],
  [
    "fields that Connection names",
    empty("X-A: 1", "X-B: 2", "Connection: X-A,,X-C"),
    { fields: ["x-b", "2"] },
  ],
  ["HTTP/1.0", `HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n`, { reusable: false }],
  [
    "HTTP/1.0 with keep-alive",
    `HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n`,
    { reusable: true },
  ],
  ["Keep-Alive", empty("Keep-Alive: timeout=5, max=100"), { timeoutMs: 5_000 }],
  ["bytes after the response", sized(2, `ok${OK}\r\n`), { body: "ok", reusable: false }],
  ["a body after a 204", `${bare("204 No Content")}ok`, { status: 204, body: "", reusable: false }],
  [
    "an interim response with length 0",
    bare("100 Continue", "Content-Length: 0") + sized(2, "ok"),
    { body: "ok", reusable: false },
  ],
];

const heads: Row[] = [
  ["no reason", bare("200 ", "Content-Length: 0"), {}],
  ["no reason and no space", bare("200", "Content-Length: 0"), {}],
  ["a reason with any text", bare("200 \t 200 \xe9!", "Content-Length: 0"), {}],
  ["status 599", bare("599 ", "Content-Length: 0"), { status: 599 }],
  ["empty values", empty("X-A:", "X-B: \t"), { fields: ["x-a", "", "x-b", ""] }],
  ["values as Latin-1", empty("X-A: \x80\xff\xe9"), { fields: ["x-a", "\x80\xff\xe9"] }],
  ["colons in values", empty("X-A::b:"), { fields: ["x-a", ":b:"] }],
  ["names of any token bytes", empty("!#$%&'*+-.^_`|~09: 1"), { fields: ["!#$%&'*+-.^_`|~09", "1"] }],
  [
    "repeated fields in order",
    empty("Set-Cookie: a", "X-A: 1", "set-cookie: b"),
    { fields: ["set-cookie", "a", "x-a", "1", "set-cookie", "b"] },
  ],
  [
    "200 fields",
    `${OK}${"X-A: 1\r\n".repeat(199)}Content-Length: 0\r\n\r\n`,
    { fields: Array<string[]>(199).fill(["x-a", "1"]).flat() },
  ],
  [
    "interim responses",
    bare("100 Continue") + bare("103 Early Hints", "Link: </a>") + sized(2, "ok"),
    { body: "ok", fields: [] },
  ],
];

// Each row gets options: the test runner passes its callback `done` in place of a missing last argument.
const rows = [...bodies, ...withoutBody, ...connections, ...heads].map(
  ([what, bytes, expected, options = {}]) => [what, bytes, expected, options] as const,
);

describe("the gateway's reader reads", () => {
  test.each(rows)("%s", (_, bytes, expected, options) => {
    const { head, refused, ...read } = readResponse([bytes], options);
    expect(refused).toBeNull();
    const { timeoutMs, status = 200, body = "", complete = true, reusable = true, ...rest } = expected;
    expect(read).toEqual({ body, complete, reusable });
    expect(head).toMatchObject({
      status,
      ...rest,
      ...(timeoutMs !== undefined && { keepAliveTimeoutMs: timeoutMs }),
    });
  });
});

describe("the gateway's reader reads the same when a response is split at any byte:", () => {
  test.each(rows)("%s", (_, bytes, __, options) => {
    const whole = readResponse([bytes], options);
    for (let at = 1; at < bytes.length; at++) {
      expect(readResponse(cutAt(bytes, [at]), options)).toEqual(whole);
    }
    expect(readResponse([...bytes], options)).toEqual(whole);
  });
});
