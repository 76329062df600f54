/**
 * Tests that the gateway refuses responses that another reader could understand differently, and responses of
 * unlimited size. If the head is refused, no byte of the body is passed on.
 */
import { expect, test } from "bun:test";
import { cutAt, readResponse } from "./read-responses.ts";

const OK = "HTTP/1.1 200 OK\r\n";
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const field = (line: string) => `${OK}${line}\r\nContent-Length: 2\r\n\r\nok`;

const heads: Record<string, string> = {
  "no status line": "hello\r\n\r\n",
  "a request": "GET / HTTP/1.1\r\n\r\n",
  "an empty line first": `\r\n${OK}\r\n`,
  "HTTP/2": "HTTP/2.0 200 OK\r\n\r\n",
  "HTTP/0.9": "HTTP/0.9 200 OK\r\n\r\n",
  "a version in lower case": "http/1.1 200 OK\r\n\r\n",
  "two spaces before the status": "HTTP/1.1  200 OK\r\n\r\n",
  "no status": "HTTP/1.1\r\n\r\n",
  "a status of two digits": "HTTP/1.1 20 OK\r\n\r\n",
  "a status of four digits": "HTTP/1.1 2000 OK\r\n\r\n",
  "a status that is not a number": "HTTP/1.1 2x0 OK\r\n\r\n",
  "status 000": "HTTP/1.1 000 OK\r\n\r\n",
  "status 099": "HTTP/1.1 099 OK\r\n\r\n",
  "status 600": "HTTP/1.1 600 OK\r\n\r\n",
  "a reason after a tab": "HTTP/1.1 200\tOK\r\n\r\n",
  "a NUL in the reason": "HTTP/1.1 200 O\0K\r\n\r\n",
  "a bare CR after the status line": "HTTP/1.1 200 OK\rX: y\r\n\r\n",
  "bare line feeds": "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
  "a bare LF after a field": `${OK}X-A: 1\nContent-Length: 2\r\n\r\nok`,
  "a bare LF as the empty line": `${OK}Content-Length: 2\r\n\nok`,
  "a bare CR as the empty line": `${OK}Content-Length: 2\r\n\rok`,
  "a bare CR in a value": field("X-A: 1\rX-B: 2"),
  "two CRs after a field": field("X-A: 1\r"),
  "a NUL in a value": field("X-A: a\0b"),
  "a bell in a value": field("X-A: a\x07b"),
  "a DEL in a value": field("X-A: a\x7fb"),
  "a NUL in a name": field("X\0A: 1"),
  "a byte above 0x7f in a name": field("X\xe9: 1"),
  "a folded field": field("X-A: 1\r\n 2"),
  "a fold as the first field": field(" X-A: 1"),
  "a field without a name": field(": 1"),
  "a field without a colon": field("X-A"),
  "a space before the colon": field("X-A : 1"),
  "a tab before the colon": field("X-A\t: 1"),
  "a space in a name": field("X A: 1"),
  "a slash in a name": field("X/A: 1"),
};

const framings: Record<string, string> = {
  "Transfer-Encoding and Content-Length": `${OK}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  "Content-Length and Transfer-Encoding": `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  "two different lengths": `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`,
  "the same length in two notations": `${OK}Content-Length: 2\r\nContent-Length: 02\r\n\r\nok`,
  "a list of lengths": `${OK}Content-Length: 2, 2\r\n\r\nok`,
  "a length with a sign": `${OK}Content-Length: +2\r\n\r\nok`,
  "a negative length": `${OK}Content-Length: -2\r\n\r\nok`,
  "a hexadecimal length": `${OK}Content-Length: 0x2\r\n\r\nok`,
  "an empty length": `${OK}Content-Length: \r\n\r\nok`,
  "a length in other digits": `${OK}Content-Length: \xb2\r\n\r\nok`,
  "a length above the safe integers": `${OK}Content-Length: 9007199254740992\r\n\r\nok`,
  "a coding before chunked": `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  "a coding after chunked": `${OK}Transfer-Encoding: chunked, identity\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  "chunked twice": `${OK}Transfer-Encoding: chunked, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  "Transfer-Encoding twice": `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  "identity as a coding": `${OK}Transfer-Encoding: identity\r\n\r\nok`,
  "an empty coding": `${OK}Transfer-Encoding:\r\n\r\nok`,
  "chunked in quotes": `${OK}Transfer-Encoding: "chunked"\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  "chunked with a parameter": `${OK}Transfer-Encoding: chunked;q=1\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  "chunked after a byte that some readers treat as a space": `${OK}Transfer-Encoding: \xa0chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  "chunked in HTTP/1.0": "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
  ...Object.fromEntries(
    ["100 Continue", "103 Early Hints", "199 Unknown", "204 No Content"].flatMap((status) => [
      [`${status} with a length`, `HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\n${field("X-A: 1")}`],
      [`${status} that is chunked`, `HTTP/1.1 ${status}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ]),
  ),
  "101 without an upgrade": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
};

const chunkings: Record<string, string> = {
  "no chunk size": "\r\nok\r\n0\r\n\r\n",
  "a chunk size that is not a number": "g\r\nok\r\n0\r\n\r\n",
  "a chunk size with 0x": "0x2\r\nok\r\n0\r\n\r\n",
  "a negative chunk size": "-2\r\nok\r\n0\r\n\r\n",
  "a space before a chunk size": " 2\r\nok\r\n0\r\n\r\n",
  "a space after a chunk size": "2 \r\nok\r\n0\r\n\r\n",
  "a chunk size that wraps 64 bits": "10000000000000002\r\nok\r\n0\r\n\r\n",
  "a chunk size above the safe integers": "20000000000001\r\nok\r\n0\r\n\r\n",
  "a chunk size of too many digits": "00000000000000002\r\nok\r\n0\r\n\r\n",
  "a bare LF after a chunk size": "2\nok\r\n0\r\n\r\n",
  "a bare CR after a chunk size": "2\rok\r\n0\r\n\r\n",
  "a bare LF after a chunk": "2\r\nok\n0\r\n\r\n",
  "a bare CR after a chunk": "2\r\nok\r0\r\n\r\n",
  "another byte for the CR after a chunk": "2\r\nokX\n0\r\n\r\n",
  "another byte for the LF after a chunk": "2\r\nok\rX0\r\n\r\n",
  "another byte for the LF after a chunk size": "2\rXok\r\n0\r\n\r\n",
  "a chunk shorter than its size": "3\r\nok\r\n0\r\n\r\n",
  "a chunk longer than its size": "1\r\nok\r\n0\r\n\r\n",
  "a bare LF in a chunk extension": "2;a\nok\r\n0\r\n\r\n",
  "a bare CR in a chunk extension": "2;a\rb\r\nok\r\n0\r\n\r\n",
  "a NUL in a chunk extension": "2;a\0\r\nok\r\n0\r\n\r\n",
  "an extension without a semicolon": "2 a\r\nok\r\n0\r\n\r\n",
  "chunk extensions of unlimited length": `2;${"a".repeat(70_000)}\r\nok\r\n0\r\n\r\n`,
  "a bare LF after the last chunk": "2\r\nok\r\n0\n\r\n",
  "a bare LF as the end of the trailers": "2\r\nok\r\n0\r\n\n",
  "a trailer without a colon": "2\r\nok\r\n0\r\nX-A\r\n\r\n",
  "a trailer without a name": "2\r\nok\r\n0\r\n: 1\r\n\r\n",
  "a folded trailer": "2\r\nok\r\n0\r\nX-A: 1\r\n 2\r\n\r\n",
  "a space before a trailer's colon": "2\r\nok\r\n0\r\nX-A : 1\r\n\r\n",
  "a bare LF in a trailer": "2\r\nok\r\n0\r\nX-A: 1\n\r\n",
  "a bare CR in a trailer": "2\r\nok\r\n0\r\nX-A: 1\r2\r\n\r\n",
  "a NUL in a trailer": "2\r\nok\r\n0\r\nX-A: \0\r\n\r\n",
  "too many trailers": `2\r\nok\r\n0\r\n${"X-A: 1\r\n".repeat(201)}\r\n`,
  "trailers that are too long": `2\r\nok\r\n0\r\nX-A: ${"a".repeat(65_536)}\r\n\r\n`,
};

const unbounded: Record<string, string> = {
  "a head over 64 KiB": field(`X-A: ${"a".repeat(65_536)}`),
  "a status line of unlimited length": `HTTP/1.1 200 ${"a".repeat(65_536)}`,
  "a name of unlimited length": `${OK}${"a".repeat(65_536)}`,
  "more than 200 fields": `${OK}${"X-A: 1\r\n".repeat(201)}\r\n`,
  "unlimited interim responses": "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(3_000),
  "interim responses with more than 200 fields": "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(201),
};

// GW-166
test.each(Object.entries({ ...heads, ...framings, ...unbounded }))("the gateway refuses %s", (_, bytes) => {
  const { refused, head, body } = readResponse([bytes]);
  expect(refused).not.toBeNull();
  expect({ head, body }).toEqual({ head: null, body: "" });
});

// GW-166
test.each(Object.entries(chunkings))("the gateway refuses %s", (_, bytes) => {
  expect(readResponse([CHUNKED + bytes]).refused).not.toBeNull();
});

// GW-166
test.each(Object.entries({ ...heads, ...framings }))(
  "the gateway refuses %s at the same byte and for the same reason when it arrives byte by byte",
  (_, bytes) => {
    expect(readResponse(cutAt(bytes, [...bytes].keys().toArray()))).toEqual(readResponse([bytes]));
  },
);
