/** Checks the address of a service (RG-12, RG-13). */
import { DOCUMENT_PATH_BYTES_MAX } from "./maximum-sizes.ts";

const FORM = "Write the url as `http://host:port`, with the port and nothing after it.";
const HOST =
  "The host of the url must be a name such as `widgets` or `widgets.internal`, or an IP address, with IPv6 in brackets. A name has at most 253 characters, in labels of 1 to 63 letters, digits, `-` and `_`. Write the url as `http://host:port`.";
const SCHEME = "http://";
const NAME_LENGTH_MAX = 253;
/** A label of RFC 1123, or a label with `_`, which container engines assign. */
const LABEL = /^(?!-)[A-Za-z0-9_-]{1,63}(?<!-)$/;
const IPV6 = /^\[[0-9A-Fa-f:.]{2,45}\]$/;

/** Returns the message for a missing or malformed url. */
export function serviceUrlMessage(url: unknown): string {
  if (typeof url !== "string") {
    const isMissing = url === undefined || url === null;
    return `${isMissing ? "Set url to" : "url must be"} \`http://host:port\`, such as \`http://widgets:8080\`.`;
  }
  if (/^https:/i.test(url)) return "TLS upstreams are unsupported: write the url as `http://host:port`.";
  return (url.startsWith(SCHEME) && urlViolation(url)) || FORM;
}

/**
 * Returns why the address in a url cannot be called, or null for a valid address. A stored url may be a bare
 * `host:port`.
 */
export function urlViolation(url: string): string | null {
  return addressViolation(addressOf(url));
}

const DOCUMENT_FORM =
  "openapi must be the path of the service's OpenAPI description, such as `/openapi.json`. The path starts with `/`, and the registry calls it on the service's url.";

/** Returns the message for a value that is not the path of a service's description. */
export function descriptionPathMessage(value: unknown): string {
  if (typeof value === "string" && value.length > DOCUMENT_PATH_BYTES_MAX)
    return `openapi can have at most ${DOCUMENT_PATH_BYTES_MAX} bytes.`;
  if (typeof value === "string" && /^[a-z][a-z0-9+.-]*:|^\/\//i.test(value)) {
    return `${DOCUMENT_FORM} The registry calls no other host.`;
  }
  return DOCUMENT_FORM;
}

/** Returns why the registry cannot call a well-formed path exactly as written, or null for a valid path. */
export function descriptionPathViolation(path: string): string | null {
  if (path.startsWith("//")) return descriptionPathMessage(path);
  if (path.includes("#")) return "openapi cannot contain `#`: a fragment is never sent.";
  const origin = "http://service";
  const called = URL.parse(origin + path)?.href.slice(origin.length);
  if (called === path && !/%(?![0-9A-Fa-f]{2})/.test(path)) return null;
  return `openapi is called exactly as written: write the path in the form that URL parsing returns${called === undefined ? "" : `: \`${called}\``}.`;
}

/** Returns the `host:port` of a url in either stored form. */
export function addressOf(url: string): string {
  return url.startsWith(SCHEME) ? url.slice(SCHEME.length) : url;
}

function addressViolation(address: string): string | null {
  const authority = /^[^/?#\\]*/.exec(address)?.[0] ?? "";
  if (authority.includes("@")) {
    return "Credentials are not allowed in the url: write the url as `http://host:port`.";
  }
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon);
  const port = address.slice(colon + 1);
  if (authority !== address || colon < 1 || !/^-?[0-9]+$/.test(port)) return FORM;
  if (!isHost(host)) return HOST;
  if (Number(port) < 1 || Number(port) > 65535) return "The port of the url is out of range: use 1 to 65535.";
  return port.startsWith("0") ? FORM : null;
}

/**
 * Returns whether a host is an IPv6 address, a name or an IPv4 address. URL parsing must leave it unchanged;
 * for example, `1.2` would become 1.0.0.2. A name may end with a dot, which stops resolvers from adding a
 * search domain.
 */
function isHost(host: string): boolean {
  if (IPV6.test(host)) return URL.canParse(`http://${host}/`);
  const name = host.endsWith(".") ? host.slice(0, -1) : host;
  if (name.length > NAME_LENGTH_MAX || !name.split(".").every((label) => LABEL.test(label))) return false;
  return URL.parse(`http://${host}/`)?.hostname === host.toLowerCase();
}
