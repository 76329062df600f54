import { headerValue, type RawRequest } from "./raw-http.ts";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Returns a client's handshake, byte for byte. `fields` are further lines of its head. */
export function handshake(path: string, ...fields: string[]): string {
  const head = [
    `GET ${path} HTTP/1.1`,
    "Host: localhost",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${Buffer.alloc(16).toString("base64")}`,
    ...fields,
  ];
  return `${head.join("\r\n")}\r\n\r\n`;
}

/** Returns a service's answer to a handshake, byte for byte. `fields` are further lines of its head. */
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
/** A mask of zeros: it changes nothing, and marks a frame as a client's. */
const NO_MASK = Buffer.alloc(4);

/** Returns a client's message of this many zero bytes. */
export function clientMessage(length: number): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(length));
  return Buffer.concat([Buffer.from([BINARY, MASKED_64_BIT]), size, NO_MASK, Buffer.alloc(length)]);
}

/** Returns about this many bytes of pings, of a client or of a service. */
export function pings(bytes: number, side: "client" | "service"): Buffer {
  const head = side === "client" ? [PING, 0x80 | PING_LENGTH, ...NO_MASK] : [PING, PING_LENGTH];
  const ping = Buffer.concat([Buffer.from(head), Buffer.alloc(PING_LENGTH)]);
  return Buffer.concat(Array(Math.ceil(bytes / ping.byteLength)).fill(ping));
}
