import { isIP } from "node:net";

/**
 * Reads the client's address from the socket, or from X-Forwarded-For behind trusted proxies (GW-90, GW-91).
 */
export class ClientAddresses {
  readonly #hops: number;

  /** @param hops number of trusted proxies in front of the gateway that append to X-Forwarded-For */
  constructor(hops: number) {
    this.#hops = hops;
  }

  /**
   * Returns entry `hops` of X-Forwarded-For, counted from the right: the address that the outermost trusted
   * proxy saw. Uses the leftmost entry if there are fewer entries. Returns the socket's address if `hops` is
   * 0, the header is missing or the entry is not an address.
   */
  clientOf(headers: Headers, socketAddress: string): string {
    if (this.#hops === 0) return socketAddress;
    const list = headers.get("x-forwarded-for");
    if (list === null) return socketAddress;
    const addresses = list.split(",");
    return addressIn(addresses[Math.max(0, addresses.length - this.#hops)] ?? "") ?? socketAddress;
  }
}

/** Returns the address of the peer. An IPv4-mapped IPv6 address becomes plain IPv4. */
export function socketAddress(address: { address: string } | null): string {
  return address === null ? UNKNOWN_ADDRESS : plain(address.address);
}

/** The address of a peer that reset the connection before the gateway read the address. */
export const UNKNOWN_ADDRESS = "0.0.0.0";
const MAPPED = "::ffff:";

function plain(address: string): string {
  const lower = address.toLowerCase();
  const v4 = lower.startsWith(MAPPED) ? lower.slice(MAPPED.length) : lower;
  return isIP(v4) === 4 ? v4 : lower;
}

/** Returns the address in an entry such as `1.2.3.4`, `1.2.3.4:5678`, `[::1]` or `[::1]:5678`, else null. */
function addressIn(entry: string): string | null {
  const text = entry.trim();
  if (isIP(text) !== 0) return plain(text);
  const host = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/.exec(text);
  const address = host?.[1] ?? host?.[2] ?? "";
  return isIP(address) === 0 ? null : plain(address);
}
