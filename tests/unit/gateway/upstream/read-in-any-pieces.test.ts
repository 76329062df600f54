/** Tests that well-formed responses are read the same, whether they arrive whole or in pieces. */
import { describe, expect, test } from "bun:test";
import { cutAt, type ReadOptions, readResponse } from "./read-responses.ts";

const OK = "HTTP/1.1 200 OK\r\n";
/** Returns a response without a body that has these fields. */
const empty = (...fields: string[]) => `${OK}${[...fields, "Content-Length: 0"].join("\r\n")}\r\n\r\n`;
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

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
  ["a body by its length", `${OK}Content-Length: 2\r\n\r\nok`, { body: "ok", contentLength: 2 }],
  ["an empty body", `${OK}Content-Length: 0\r\n\r\n`, { body: "", contentLength: 0 }],
  ["a length with leading zeros", `${OK}Content-Length: 0002\r\n\r\nok`, { body: "ok", contentLength: 2 }],
  ["a repeated length", `${OK}Content-Length: 2\r\ncontent-length:2\r\n\r\nok`, { body: "ok" }],
  ["a body that looks like a response", `${OK}Content-Length: ${OK.length}\r\n\r\n${OK}`, { body: OK }],
  ["a chunked body", `${CHUNKED}2\r\nok\r\n0\r\n\r\n`, { body: "ok", contentLength: null }],
  ["several chunks", `${CHUNKED}1\r\no\r\n00a\r\nk123456789\r\n0000\r\n\r\n`, { body: "ok123456789" }],
  ["an empty chunked body", `${CHUNKED}0\r\n\r\n`, { body: "" }],
  [
    "chunk sizes in either case",
    `${CHUNKED}a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n`,
    { body: "01234567890123456789" },
  ],
  ["chunk extensions", `${CHUNKED}2;a;b=c;d="e;f"\r\nok\r\n0 \t;last\r\n\r\n`, { body: "ok" }],
  [
    "trailers, which are dropped",
    `${CHUNKED}2\r\nok\r\n0\r\nX-A: 1\r\nX-B:\r\n\r\n`,
    { body: "ok", fields: [] },
  ],
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
  ["a body that has not ended", `${OK}\r\nok`, { body: "ok", complete: false, reusable: false }],
  [
    "an incomplete body",
    `${OK}Content-Length: 3\r\n\r\nok`,
    { body: "ok", complete: false, reusable: false },
  ],
];

const withoutBody: Row[] = [
  [
    "a response to HEAD",
    `${OK}Content-Length: 5\r\n\r\n`,
    { contentLength: 5, reusable: false },
    { method: "HEAD" },
  ],
  ["a chunked response to HEAD", CHUNKED, { reusable: false }, { method: "HEAD" }],
  ["204", "HTTP/1.1 204 No Content\r\n\r\n", { status: 204 }],
  [
    "204 with length 0",
    "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
    { status: 204, contentLength: null, fields: [], reusable: false },
  ],
  ["304", "HTTP/1.1 304 Not Modified\r\n\r\n", { status: 304, contentLength: null }],
  [
    "304 with a length",
    "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
    { status: 304, contentLength: 5, reusable: false },
  ],
  [
    "304 that is chunked",
    "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
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
  [
    "bytes after the response",
    `${OK}Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n`,
    { body: "ok", reusable: false },
  ],
  ["a body after a 204", "HTTP/1.1 204 No Content\r\n\r\nok", { status: 204, body: "", reusable: false }],
  [
    "an interim response with length 0",
    `HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`,
    { body: "ok", reusable: false },
  ],
];

const heads: Row[] = [
  ["no reason", `HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n`, {}],
  ["no reason and no space", `HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n`, {}],
  ["a reason with any text", `HTTP/1.1 200 \t 200 \xe9!\r\nContent-Length: 0\r\n\r\n`, {}],
  ["status 599", `HTTP/1.1 599 \r\nContent-Length: 0\r\n\r\n`, { status: 599 }],
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
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`,
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
