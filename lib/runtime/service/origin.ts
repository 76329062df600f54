/** `http://host:port` of a server bound to `host`, as this machine reaches it. */
export function localOrigin(host: string, port: number): string {
  // bound to every address, it is reached by the loopback one; an IPv6 address is bracketed in a URL
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
