import { isThisMachine } from "@ostiary/lib/domain/routes";

/**
 * Returns the options with which `fetch` calls this machine without the proxy of the environment. The proxy could
 * not reach this machine's loopback addresses, but it would read the token.
 */
export function proxyFor(url: string): { proxy?: false } {
  return isThisMachine(new URL(url).hostname) ? { proxy: false } : {};
}
