import { isIP } from "node:net";

/** Where the client's address is read: the socket, or X-Forwarded-For behind trusted proxies (contract 4, Headers). */
export class ClientAddresses {
  readonly #hops: number;

  /** @param hops how many proxies in front append to X-Forwarded-For; 0: none is trusted */
  constructor(hops: number) {
    this.#hops = hops;
  }

  /**
   * The `hops`-th address from the right, as the outermost trusted proxy saw it. With fewer addresses than hops
   * the leftmost one; the socket's where that is no address.
   */
  clientOf(headers: Headers, socketAddress: string): string {
    if (this.#hops === 0) return socketAddress;
    const list = headers.get("x-forwarded-for");
    if (list === null) return socketAddress;
    const addresses = list.split(",");
    return addressIn(addresses[Math.max(0, addresses.length - this.#hops)] ?? "") ?? socketAddress;
  }
}

/** The peer's address; IPv4 also where the socket speaks IPv6. */
export function socketAddress(address: { address: string } | null): string {
  return address === null ? UNKNOWN : plain(address.address);
}

/** The peer has gone before it was asked for. */
const UNKNOWN = "0.0.0.0";
const MAPPED = "::ffff:";

function plain(address: string): string {
  const lower = address.toLowerCase();
  const v4 = lower.startsWith(MAPPED) ? lower.slice(MAPPED.length) : lower;
  return isIP(v4) === 4 ? v4 : lower;
}

/** An address as proxies write it: bare, `1.2.3.4:5678`, `[::1]` or `[::1]:5678`; null for anything else. */
function addressIn(entry: string): string | null {
  const text = entry.trim();
  if (isIP(text) !== 0) return plain(text);
  const host = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/.exec(text);
  const address = host?.[1] ?? host?.[2] ?? "";
  return isIP(address) === 0 ? null : plain(address);
}
