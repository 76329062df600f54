import { canonicalAddress } from "./ip-address.ts";

const KNOWN_ADDRESSES_MAX = 1_000;
/** The length of the longest IPv6 address. Longer texts are not kept. */
const ADDRESS_LENGTH_MAX = 45;
/** The address of a peer that reset the connection before the gateway read the address. */
export const UNKNOWN_ADDRESS = "0.0.0.0";

/**
 * Reads the client's address from the socket, or from X-Forwarded-For behind trusted proxies (GW-90, GW-91).
 */
export class ClientAddresses {
  readonly #hops: number;
  /** The canonical texts of IPv6 addresses, because all requests of a connection have the same one. */
  readonly #known = new Map<string, string | null>();

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
    return this.#addressIn(addresses[Math.max(0, addresses.length - this.#hops)] ?? "") ?? socketAddress;
  }

  peerOf(address: { address: string } | null): string {
    return (address && this.#canonical(address.address)) ?? UNKNOWN_ADDRESS;
  }

  /** Returns the address in an entry such as `1.2.3.4`, `1.2.3.4:5678`, `[::1]` or `[::1]:5678`, else null. */
  #addressIn(entry: string): string | null {
    const text = entry.trim();
    const whole = this.#canonical(text);
    if (whole !== null) return whole;
    const host = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/.exec(text);
    return this.#canonical(host?.[1] ?? host?.[2] ?? "");
  }

  #canonical(text: string): string | null {
    if (text.length > ADDRESS_LENGTH_MAX || !text.includes(":")) return canonicalAddress(text);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#known.size >= KNOWN_ADDRESSES_MAX) this.#known.clear();
    const canonical = canonicalAddress(text);
    this.#known.set(text, canonical);
    return canonical;
  }
}
