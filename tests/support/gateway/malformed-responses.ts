const START = "HTTP/1.1 200 OK\r\n";
const CHUNKED = `${START}Transfer-Encoding: chunked\r\n\r\n`;

/** A selection of malformed responses. The unit tests of the response parser have more. */
export const MALFORMED: Record<string, string> = {
  "both Transfer-Encoding and Content-Length": `${START}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  "two different lengths": `${START}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`,
  "a length that is not a number": `${START}Content-Length: two\r\n\r\nok`,
  "a length with a sign": `${START}Content-Length: +2\r\n\r\nok`,
  "a coding before chunked": `${START}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  "an unknown coding": `${START}Transfer-Encoding: identity\r\n\r\nok`,
  "chunked in HTTP/1.0": "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
  "a bad chunk size": `${CHUNKED}x\r\nok\r\n0\r\n\r\n`,
  "a chunk that is longer than its size": `${CHUNKED}1\r\nok\r\n0\r\n\r\n`,
  "a bare LF behind a chunk size": `${CHUNKED}2\nok\r\n0\r\n\r\n`,
  "a bare LF in a chunk extension": `${CHUNKED}2;a\nok\r\n0\r\n\r\n`,
  "bare line feeds": "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
  "a bare CR in a value": `${START}X-A: 1\rX-B: 2\r\nContent-Length: 2\r\n\r\nok`,
  "a NUL in a value": `${START}X-A: a\0b\r\nContent-Length: 2\r\n\r\nok`,
  "a folded field": `${START}X-A: 1\r\n 2\r\nContent-Length: 2\r\n\r\nok`,
  "a space before a colon": `${START}Content-Length : 2\r\n\r\nok`,
  "a field without a name": `${START}: 1\r\nContent-Length: 2\r\n\r\nok`,
  "no status line": "hello\r\n\r\n",
  "a status of four digits": "HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok",
  "HTTP/2": "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
  "101 without an upgrade": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
  "a head over 64 KiB": `${START}X-A: ${"a".repeat(65_536)}\r\nContent-Length: 2\r\n\r\nok`,
  "more than 200 fields": `${START}${"X-A: 1\r\n".repeat(201)}Content-Length: 2\r\n\r\nok`,
};
