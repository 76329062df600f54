/** `http://host:port` as this machine reaches what is bound to `host`. */
export function localOrigin(host: string, port: number): string {
  return `http://${reachable(host)}:${port}`;
}

/** An address that means all of them is none that a client should call. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
