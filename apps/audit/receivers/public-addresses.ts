import { BlockList, isIP } from "node:net";

/** Ranges of IPv4 that are not public addresses: IANA's registry of special-purpose addresses, and multicast. */
const SPECIAL_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];
/** The range of public IPv6 addresses, and the ranges in it that are special-purpose or lead to IPv4. */
const PUBLIC_IPV6 = ["2000::/3"];
const SPECIAL_IPV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const NETWORK = /^([^/]+)\/(\d{1,3})$/;

const specialIpv4 = listOf(SPECIAL_IPV4);
const publicIpv6 = listOf(PUBLIC_IPV6);
const specialIpv6 = listOf(SPECIAL_IPV6);

/** Returns whether the text is a network in CIDR notation, such as `10.0.0.0/8` or `fd00::/8`. */
export function isNetwork(text: string): boolean {
  const [, address = "", prefix = ""] = NETWORK.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(prefix) <= (family === 4 ? 32 : 128);
}

/** Returns the list of networks in CIDR notation that {@link isNetwork} accepts. */
export function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = "", prefix = ""] = NETWORK.exec(network) ?? [];
    list.addSubnet(address, Number(prefix), isIP(address) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

/** The IPv4 address within an IPv4-mapped address of IPv6, as the WHATWG URL parser spells it. */
const MAPPED = /^::ffff:(?:([\da-f]{1,4}):([\da-f]{1,4})|(\d+\.\d+\.\d+\.\d+))$/;

/**
 * Returns an address in canonical form: lower case, and IPv4-mapped IPv6 as IPv4. Null for a text that is not an
 * address.
 */
function plainAddress(text: string): string | null {
  const family = isIP(text);
  if (family === 4) return text;
  // an address with a zone, such as fe80::1%eth0, is local to this machine
  if (family === 0 || text.includes("%")) return null;
  const spelled = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [, high = "", low = "", dotted] = MAPPED.exec(spelled) ?? [];
  if (dotted !== undefined) return dotted;
  if (high === "") return spelled;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join(".");
}

/** Returns whether streams may send to an address: a public one, or one in the `allowed` networks (AU-100). */
export function mayCall(address: string, allowed: BlockList): boolean {
  const plain = plainAddress(address);
  if (plain === null) return false;
  const family = isIP(plain) === 4 ? "ipv4" : "ipv6";
  if (allowed.check(plain, family)) return true;
  return family === "ipv4"
    ? !specialIpv4.check(plain, family)
    : publicIpv6.check(plain, family) && !specialIpv6.check(plain, family);
}
