/** Compares the addresses of services, in every spelling (RG-114). */
import { addressOf, urlViolation } from "./service-url.ts";

/** The host that stands for this machine: every name and address of the loopback interface. */
const LOOPBACK = "localhost";
const LOOPBACK_NAME = /(?:^|\.)localhost$/;
/** 127.0.0.0/8 and 0.0.0.0/8. A connection to 0.0.0.0 reaches this machine. */
const LOOPBACK_IPV4 = /^(?:127|0)(?:\.\d{1,3}){3}$/;
const LOOPBACK_IPV6 = /^\[::1?\]$/;
/** An IPv6 address that stands for an IPv4 address: IPv4-mapped, or by the well-known prefix of NAT64. */
const EMBEDDED_IPV4 = /^\[(?:::ffff:|64:ff9b::)([\da-f]{1,4}):([\da-f]{1,4})\]$/;

/**
 * Returns the host and port of a url as `host:port`, in the one form in which two addresses are compared. Null for an
 * address that nothing can connect to. Does not resolve names.
 */
export function canonicalAddress(url: string): string | null {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(addressOf(url)) ?? [];
  if (host === undefined) return null;
  const parsed = URL.parse(`http://${host}/`)?.hostname;
  return parsed === undefined ? null : `${canonicalHost(parsed)}:${Number(port)}`;
}

/**
 * Returns whether a host stands for this machine.
 *
 * @param hostname the `hostname` of a parsed URL
 */
export function isThisMachine(hostname: string): boolean {
  return canonicalHost(hostname) === LOOPBACK;
}

/** @param parsed a host as URL parsing returns it: in lower case, with each IP address in its one form */
function canonicalHost(parsed: string): string {
  const [, high, low] = EMBEDDED_IPV4.exec(parsed) ?? [];
  const host =
    high === undefined || low === undefined ? parsed.replace(/\.$/, "") : ipv4Of(hex(high), hex(low));
  return LOOPBACK_NAME.test(host) || LOOPBACK_IPV4.test(host) || LOOPBACK_IPV6.test(host) ? LOOPBACK : host;
}

const hex = (digits: string) => Number.parseInt(digits, 16);
const ipv4Of = (high: number, low: number) => [high >> 8, high & 255, low >> 8, low & 255].join(".");

const PATTERN_FORM =
  "must be `http://host:port`, in which `*` can stand for the port, or for the first label of a name, as in `http://*.widgets.internal:*`";
const WILD_LABEL = "*.";

/** Returns why `pattern` is not a pattern of addresses, or null for a valid pattern (RG-152). */
export function addressPatternViolation(pattern: string): string | null {
  const [, host = "", port = ""] = /^http:\/\/(.+):(\*|\d+)$/.exec(pattern) ?? [];
  const isBelow = host.startsWith(WILD_LABEL);
  const url = `http://${isBelow ? `a.${host.slice(WILD_LABEL.length)}` : host}:${port === "*" ? 1 : port}`;
  if (host === "" || urlViolation(url) !== null) return PATTERN_FORM;
  if (!isBelow) return null;
  const [read] = split(canonicalAddress(url) ?? "");
  if (read === LOOPBACK) return "must not have `*` below localhost: write `localhost`";
  return read.includes(".") ? null : PATTERN_FORM;
}

interface Pattern {
  /** A canonical host; or, if `isBelow`, the domain one label above the hosts, with a dot in front. */
  readonly host: string;
  readonly isBelow: boolean;
  /** Null stands for every port. */
  readonly port: string | null;
}

/** A list of patterns of addresses (RG-152). */
export class AddressPatterns {
  readonly #patterns: readonly Pattern[];

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns.flatMap((pattern) => readPattern(pattern) ?? []);
  }

  /** @param address an address as {@link canonicalAddress} returns it */
  cover(address: string): boolean {
    const [host, port] = split(address);
    return this.#patterns.some(
      (pattern) =>
        (pattern.port === null || pattern.port === port) &&
        (pattern.isBelow ? host.slice(host.indexOf(".")) === pattern.host : host === pattern.host),
    );
  }
}

function readPattern(pattern: string): Pattern | null {
  const [host, port] = split(addressOf(pattern));
  const isBelow = host.startsWith(WILD_LABEL);
  const example = isBelow ? `a${host.slice(1)}` : host;
  const canonical = canonicalAddress(`${example}:${port === "*" ? 1 : port}`);
  if (canonical === null) return null;
  const [read, exact] = split(canonical);
  return { host: isBelow ? read.slice(1) : read, isBelow, port: port === "*" ? null : exact };
}

function split(address: string): [host: string, port: string] {
  const colon = address.lastIndexOf(":");
  return [address.slice(0, colon), address.slice(colon + 1)];
}
