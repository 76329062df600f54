import { isIP } from "node:net";
import { databaseParameterProblem } from "./database-parameters.ts";

// These checks refuse a URL with a raw `@`, `#`, `/` or `?` in the password, because messages would show the password's
// rest.

/** `http://host/path?query`, with http or https. */
export function isHttpUrl(text: string): boolean {
  const parts = /^https?:\/\/([^\s/?#]+)(?:[/?#]\S*)?$/.exec(text);
  return parts !== null && isAuthority(parts[1]) && URL.canParse(text);
}

/** A URL to which paths can be appended. */
export function isHttpBaseUrl(text: string): boolean {
  return isHttpUrl(text) && !/[?#]/.test(text);
}

/** Checks `postgres://user:password@host:port,host:port/name?option=value`, or `pglite://` and a directory. */
export function checkDatabaseUrl(text: string): boolean | string {
  if (text.startsWith("pglite://")) return isEmbeddedDatabaseUrl(text);
  const parts = /^postgres(?:ql)?:\/\/([^\s/?#]+)(?:\/[^\s/?#@]*)?(?:\?([^\s#@]*))?$/.exec(text);
  if (parts === null) return false;
  const { user, hosts } = splitAuthority(parts[1] ?? "");
  if (!hosts.every(isHost) || !isAuthority(`${user}${hosts[0]}`)) return false;
  return databaseParameterProblem(parts[2] ?? "") ?? true;
}

function isEmbeddedDatabaseUrl(text: string): boolean {
  if (text === "pglite://memory") return true;
  const directory = decoded(text.slice("pglite://".length));
  return directory !== null && /^\/[^/\0][^\0]*$/.test(directory);
}

const TLS_MODES = ["require", "verify-ca", "verify-full"];
export function databaseUsesTls(url: string): boolean {
  const options = new URLSearchParams(/^postgres(?:ql)?:[^?]*\?(.*)$/.exec(url)?.[1]);
  return TLS_MODES.includes(options.get("sslmode") ?? "") || options.get("sslrootcert") === "system";
}

/** `memory://`, or etcd endpoints `http://host:port`, separated by commas: all with http, or all with https. */
export function isRouteStoreUrl(text: string): boolean {
  if (text === "memory://") return true;
  const endpoints = text.split(",").map((item) => /^(https?):\/\/([^\s/?#]+)\/?$/.exec(item.trim()));
  const schemes = new Set(endpoints.map((endpoint) => endpoint?.[1]));
  const named = !schemes.has("https") || endpoints.every((endpoint) => isNamed(endpoint?.[2]));
  return schemes.size === 1 && named && endpoints.every((endpoint) => isEndpoint(endpoint?.[2]));
}

/** The etcd client sends the host as the TLS server name, which cannot be an IP address. */
function isNamed(authority = ""): boolean {
  const host = URL.parse(`http://${authority}`)?.hostname ?? "";
  return isIP(host.replace(/^\[|\]$/g, "")) === 0;
}

/** The authority of an etcd endpoint has a user name and a password, or neither. */
function isEndpoint(authority: string | undefined): boolean {
  if (authority === undefined || !isAuthority(authority)) return false;
  const { username, password } = new URL(`http://${authority}`);
  return (username === "") === (password === "");
}

/** `memory://`, `redis://user:password@host:port/database` or `redis+cluster://a:6379,b:6379`; `rediss` means TLS. */
export function isCounterStoreUrl(text: string): boolean {
  if (text === "memory://") return true;
  const cluster = /^rediss?\+cluster:\/\/([^/?#]+)\/?$/.exec(text);
  if (cluster !== null) {
    const { user, hosts } = splitAuthority(cluster[1] ?? "");
    return (
      !/\s/.test(user) && hosts.every((host) => isHost(host.trim()) && isAuthority(`${user}${host.trim()}`))
    );
  }
  const server = /^rediss?:\/\/([^\s/?#]+)(?:\/\d{0,4})?(?:\?[^\s#@]*)?$/.exec(text);
  return server !== null && isAuthority(server[1]);
}

/** An origin as browsers send it, such as `https://app.example.com`. */
export function isOrigin(text: string): boolean {
  const parts = /^[a-z][a-z0-9+.-]*:\/\/([^\s/?#@]+)$/i.exec(text);
  return parts !== null && isAuthority(parts[1]);
}

/** An IP address or a host name, but no name that a resolver would read as a number. */
export function isBindAddress(text: string): boolean {
  const labels = text.split(".");
  const isName = labels.every((label) => /^[a-z0-9_][a-z0-9_-]{0,62}$/i.test(label));
  return isIP(text) !== 0 || (isName && !/^(\d+|0x[\da-f]*)$/i.test(labels.at(-1) ?? ""));
}

export function isLoopbackAddress(text: string): boolean {
  return /^(localhost|::1)$/i.test(text) || (isIP(text) === 4 && text.startsWith("127."));
}

/** Splits a list at its commas, and drops empty items. */
export function listItems(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function splitAuthority(authority: string): { user: string; hosts: string[] } {
  const end = authority.lastIndexOf("@") + 1;
  return { user: authority.slice(0, end), hosts: authority.slice(end).split(",") };
}

function isHost(text: string): boolean {
  return !text.includes("@") && isAuthority(text);
}

/** `user:password@host:port` with one host and valid escapes. */
function isAuthority(text: string | undefined): boolean {
  if (text === undefined || /[\s,\\]/.test(text.slice(text.lastIndexOf("@") + 1))) return false;
  if (!URL.canParse(`http://${text}`)) return false;
  const { port, username, password } = new URL(`http://${text}`);
  return port !== "0" && decoded(username) !== null && decoded(password) !== null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** `key=value`, where the key is an HTTP token and all percent escapes are valid. */
export function isKeyPair(item: string): boolean {
  const [key = "", ...value] = item.split("=");
  const isToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(key.trim());
  return value.length > 0 && isToken && decoded(item) !== null;
}
