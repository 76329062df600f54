import { BlockList, isIP } from "node:net";

const NETWORK = /^([^/]+)\/(\d{1,3})$/;

/**
 * The ranges that are not public: IANA's registries of special-purpose addresses, and multicast. An IPv4 range also
 * contains its addresses in IPv4-mapped form. Some IPv6 ranges lead to IPv4.
 */
const special = listOf([
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
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
]);
/** The ranges of public IPv6 addresses, and of IPv4-mapped ones. */
const publicIpv6 = listOf(["2000::/3", "::ffff:0:0/96"]);

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

/** Returns whether streams may send to an address: a public one, or one in the `allowed` networks (AU-100). */
export function mayCall(address: string, allowed: BlockList): boolean {
  const version = isIP(address);
  // an address with a zone, such as fe80::1%eth0, is local to this machine
  if (version === 0 || address.includes("%")) return false;
  const family = version === 4 ? "ipv4" : "ipv6";
  if (allowed.check(address, family)) return true;
  return !special.check(address, family) && (family === "ipv4" || publicIpv6.check(address, family));
}
