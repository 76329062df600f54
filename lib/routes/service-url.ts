/** The address of a service (Gateway specification, ServiceConfig and Validation rule 5). */

const FORM = "Write the url as `http://host:port`, with the port and nothing after it.";
const SCHEME = "http://";
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])$/;

/** Why `url` is not accepted from an operator; null when it is. */
export function serviceUrlFault(url: string): string | null {
  if (/^https:/i.test(url)) {
    return "TLS upstreams are unsupported: write the url as `http://host:port`.";
  }
  if (!url.startsWith(SCHEME)) return FORM;
  return addressFault(url.slice(SCHEME.length));
}

/** As {@link serviceUrlFault}, for a stored value: an old one may be a bare `host:port`. */
export function storedUrlFault(url: string): string | null {
  return addressFault(addressOf(url));
}

/** `host:port` of a url in either stored form. */
export function addressOf(url: string): string {
  return url.startsWith(SCHEME) ? url.slice(SCHEME.length) : url;
}

function addressFault(address: string): string | null {
  const authority = /^[^/?#\\]*/.exec(address)?.[0] ?? "";
  if (authority.includes("@")) {
    return "Credentials are not allowed in the url: write it as `http://host:port`.";
  }
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon);
  const port = address.slice(colon + 1);
  if (colon < 0 || !isHost(host) || !/^-?[0-9]+$/.test(port)) return FORM;
  if (Number(port) < 1 || Number(port) > 65535) return "The port of the url is out of range: use 1 to 65535.";
  return port.startsWith("0") ? FORM : null;
}

/** A name or address that URL parsing leaves as it is: `1.2` would be read as the address 1.0.0.2. */
function isHost(host: string): boolean {
  if (!HOST.test(host)) return false;
  const parsed = URL.parse(`http://${host}/`)?.hostname;
  return host.startsWith("[") ? parsed !== undefined : parsed === host.toLowerCase();
}
