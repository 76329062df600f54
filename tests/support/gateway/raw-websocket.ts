import { headerValue, type RawRequest, spell } from "../http/raw-http.ts";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Returns the bytes of a client's handshake. `headers` are added to its headers, or replace them. */
export function handshake(path: string, headers: Record<string, string> = {}): string {
  return spell("GET", path, {
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": Buffer.alloc(16).toString("base64"),
    ...headers,
  });
}

/** Returns the bytes of the response that accepts a handshake. `fields` are additional header lines. */
export function acceptance({ headers }: RawRequest, ...fields: string[]): string {
  const key = headerValue(headers, "sec-websocket-key") ?? "";
  const head = [
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Accept: ${new Bun.CryptoHasher("sha1").update(key + GUID).digest("base64")}`,
    ...fields,
  ];
  return `${head.join("\r\n")}\r\n\r\n`;
}

const BINARY = 0x82;
const PING = 0x89;
const PING_LENGTH = 125;
const MASKED_64_BIT = 0x80 | 127;
/** A mask of zeros, which does not change the payload. Frames of a client must have a mask. */
const NO_MASK = Buffer.alloc(4);

/** Returns the frame of a client's binary message that contains `length` zero bytes. */
export function clientMessage(length: number): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(length));
  return Buffer.concat([Buffer.from([BINARY, MASKED_64_BIT]), size, NO_MASK, Buffer.alloc(length)]);
}

/** Returns Ping frames of at least `bytes` bytes in total, as a client or a service sends them. */
export function pings(bytes: number, side: "client" | "service"): Buffer {
  const head = side === "client" ? [PING, 0x80 | PING_LENGTH, ...NO_MASK] : [PING, PING_LENGTH];
  const ping = Buffer.concat([Buffer.from(head), Buffer.alloc(PING_LENGTH)]);
  return Buffer.concat(Array(Math.ceil(bytes / ping.byteLength)).fill(ping));
}
