import { isIP } from "node:net";

const MAPPED = /^::ffff:[0-9a-f]+:[0-9a-f]+$/;
const MAPPED_PREFIX = "::ffff:";

/**
 * Returns the canonical text of an address (RFC 5952), or null if `text` is no address. An IPv4 address that is mapped
 * into IPv6 becomes plain IPv4, and a zone is dropped.
 */
export function canonicalAddress(text: string): string | null {
  if (!text.includes(":")) return isIP(text) === 4 ? text : null;
  const ipv4 = text.startsWith(MAPPED_PREFIX) ? text.slice(MAPPED_PREFIX.length) : "";
  if (isIP(ipv4) === 4) return ipv4;
  const [address = ""] = text.split("%", 1);
  if (isIP(address) !== 6) return null;
  const canonical = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? address;
  return MAPPED.test(canonical) ? ipv4In(groupsOf(canonical)) : canonical;
}

const GROUPS = 8;
/** The groups of the prefix for IPv4 addresses behind NAT64 (RFC 6052). */
const NAT64_GROUPS = "64:ff9b:0:0:0:0";

/**
 * Returns the text under which failed authentications of a client are counted. One client has a whole /64 of IPv6, so
 * the /64 stands for its addresses. A unique local address counts alone, and an address behind NAT64 as IPv4.
 *
 * @param address a canonical address
 */
export function failureSubject(address: string): string {
  if (!address.includes(":")) return address;
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join(":") === NAT64_GROUPS) return ipv4In(groups);
  if (isUniqueLocal(groups[0] ?? "")) return address;
  return `${groups.slice(0, 4).join(":")}::/64`;
}

function isUniqueLocal(group: string): boolean {
  return (Number.parseInt(group, 16) & 0xfe00) === 0xfc00;
}

function groupsOf(address: string): string[] {
  const [left = "", right] = address.split("::").map((part) => (part === "" ? [] : part.split(":")));
  if (right === undefined) return [...left];
  const zeros = Array<string>(GROUPS - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right];
}

function ipv4In(groups: readonly string[]): string {
  return groups
    .slice(-2)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((number) => [number >> 8, number & 0xff])
    .join(".");
}
