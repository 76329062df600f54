/** Tests which client address the gateway uses, and how it counts failed authentications of an address. */
import { expect, test } from "bun:test";
import { ClientAddresses } from "../../../apps/gateway/edge/client-address.ts";
import { failureSubject } from "../../../apps/gateway/edge/ip-address.ts";

const SOCKET = "192.0.2.1";

// GW-90, GW-91, GW-219
test.each<[hops: number, list: string | null, address: string]>([
  [0, "1.1.1.1", SOCKET],
  [1, null, SOCKET],
  [1, "9.9.9.9, 1.1.1.1", "1.1.1.1"],
  [2, "9.9.9.9, 1.1.1.1, 7.7.7.7", "1.1.1.1"],
  [2, "1.1.1.1", "1.1.1.1"],
  [1, "1.1.1.1:4711", "1.1.1.1"],
  [1, "[2001:db8::1]:80", "2001:db8::1"],
  ...["2001:DB8::A:1", "2001:0db8:0:0:0:0:a:1", "2001:db8::0:000a:0001", "2001:db8::a:1%eth0"].map(
    (spelling): [number, string, string] => [1, spelling, "2001:db8::a:1"],
  ),
  ...["::ffff:1.2.3.4", "::FFFF:102:304", "0:0:0:0:0:ffff:1.2.3.4", "[::ffff:1.2.3.4]:8"].map(
    (spelling): [number, string, string] => [1, spelling, "1.2.3.4"],
  ),
  ...["unknown", "_hidden", "", "1.2.3", 'evil"><script>'].map((none): [number, string, string] => [
    1,
    none,
    SOCKET,
  ]),
])("behind %d proxies, the list %p names %s", (hops, list, address) => {
  const headers = new Headers(list === null ? {} : { "X-Forwarded-For": list });
  expect(new ClientAddresses(hops).clientOf(headers, SOCKET)).toBe(address);
});

// GW-220
test.each([
  ["1.2.3.5", "1.2.3.5"],
  ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
  ["2001:db8:1:2:ffff::", "2001:db8:1:2::/64"],
  ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
  ["fd00::1", "fd00::1"],
  ["fd00::2", "fd00::2"],
  ["64:ff9b::102:305", "1.2.3.5"],
])("failed authentications of %s count for %s", (address, subject) => {
  expect(failureSubject(address)).toBe(subject);
});
