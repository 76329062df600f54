/** Random responses for a fuzzer. They use the parts of HTTP/1 on which readers disagree. */
import type { Random } from "../../../support/random.ts";

const STATUS_LINES = [
  "HTTP/1.1 200 OK",
  "HTTP/1.1 200 OK",
  "HTTP/1.1 404 Not Found",
  "HTTP/1.1 204 No Content",
  "HTTP/1.1 304 Not Modified",
  "HTTP/1.1 500",
  "HTTP/1.1 201 ",
  "HTTP/1.0 200 OK",
  "HTTP/1.1 101 Switching Protocols",
  "HTTP/1.2 200 OK",
  "HTTP/1.1 099 Low",
  "HTTP/1.1 600 High",
] as const;

const INTERIM = [
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
  "HTTP/1.1 102 \r\nContent-Length: 3\r\n\r\n",
] as const;

const FIELDS = [
  "Content-Type: text/plain",
  "Date: Mon, 23 Nov 2026 00:00:00 GMT",
  "Set-Cookie: a=b; Path=/",
  "X-Empty:",
  "x-latin: \xe9\x80\xff",
  "Vary:Accept \t",
  "Connection: keep-alive",
  "Connection: close",
  "Connection: x-empty, Keep-Alive",
  "Keep-Alive: timeout=5",
  "Trailer: X-T",
] as const;

/** Header lines that a strict reader refuses, or that do not describe the length of the actual body. */
const TRAPS = [
  "Content-Length: 3",
  "Content-Length: 03",
  "Content-Length: 3, 3",
  "Content-Length: +3",
  "Content-Length : 3",
  "Content-Length: 99999999999999999999",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding: identity",
  "Transfer-Encoding:\tCHUNKED ",
  "Transfer-Encoding: chunked\rX: y",
  " folded",
  "\tfolded",
  "no colon",
  ": no name",
  "X-A: a\nX-B: b",
  "X-A: \0",
  "",
] as const;

const SIZE_ENDS = ["", "", "", "", ";a=b", ' ; a="b c"', " ", ";\n", "\t"] as const;
const TRAILERS = [
  "",
  "",
  "",
  "X-T: 1\r\n",
  "X-T: 1\r\nContent-Length: 5\r\n",
  "X-T\r\n",
  "X T: 1\r\n",
] as const;
const SPICE = [0, 9, 10, 13, 32, 48, 58, 59, 65, 102, 127, 128, 255] as const;

/** Returns a random response, which is nearly always well-formed. */
export function randomResponse(random: Random): string {
  const lines: string[] = [random.pick(STATUS_LINES)];
  for (let left = random.below(5); left > 0; left--) lines.push(random.pick(FIELDS));
  if (random.chance(10)) lines.push(random.pick(TRAPS));
  const body = randomBody(random);
  if (body.field !== null) lines.splice(1 + random.below(lines.length), 0, body.field);
  const interim = random.chance(10) ? random.pick(INTERIM) : "";
  return `${interim}${lines.join("\r\n")}\r\n\r\n${body.bytes}`;
}

function randomBody(random: Random): { field: string | null; bytes: string } {
  const content = randomContent(random);
  if (random.chance(10)) return { field: null, bytes: random.chance(50) ? content : "" };
  if (random.chance(50)) return { field: `Content-Length: ${content.length}`, bytes: content };
  return { field: "Transfer-Encoding: chunked", bytes: chunks(content, random) };
}

/** Returns a random body, which sometimes looks like a response. */
function randomContent(random: Random): string {
  if (random.chance(10)) return "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";
  return "abcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n0123456789".slice(0, random.below(45));
}

function chunks(content: string, random: Random): string {
  let bytes = "";
  for (let at = 0; at < content.length; ) {
    const size = 1 + random.below(content.length - at);
    const spelled = size.toString(16).padStart(random.chance(10) ? 6 : 1, "0");
    const end = random.chance(10) ? random.pick(SIZE_ENDS) : "";
    bytes += `${spelled}${end}\r\n${content.slice(at, at + size)}\r\n`;
    at += size;
  }
  return `${bytes}0\r\n${random.chance(10) ? random.pick(TRAILERS) : ""}\r\n`;
}

/** Returns `bytes` with up to three changes: replaced, added, removed or repeated bytes, or a missing end. */
export function damaged(bytes: string, random: Random): string {
  let result = bytes;
  for (let left = 1 + random.below(3); left > 0; left--) {
    const at = random.below(result.length + 1);
    const spice = String.fromCharCode(random.chance(70) ? random.pick(SPICE) : random.below(256));
    const until = at + random.below(8);
    const kinds = [
      () => result.slice(0, at) + spice + result.slice(at + 1),
      () => result.slice(0, at) + spice + result.slice(at),
      () => result.slice(0, at) + result.slice(until),
      () => result.slice(0, until) + result.slice(at),
      () => result.slice(0, at),
    ] as const;
    result = random.pick(kinds)();
  }
  return result;
}

/** Splits `bytes` into pieces of random size, which are sometimes very small. */
export function randomPieces(bytes: string, random: Random): string[] {
  const longest = random.pick([1, 3, 20, 100, 100, 10_000]);
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + random.below(longest);
    pieces.push(bytes.slice(at, at + size));
    at += size;
  }
  return pieces;
}
