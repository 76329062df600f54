import { isIP } from "node:net";

/**
 * Whether the text of a variable is an address of its kind. A raw `@`, `#`, `/` or `?` in a password would be
 * read as the end of the host, and the rest of the password as a name or a port that messages print; so what
 * follows the host is held to what it may be, and such a URL is refused.
 */

/** `http://host/path?query` */
export function isHttpUrl(text: string): boolean {
  const parts = /^https?:\/\/([^\s/?#]+)(?:[/?#]\S*)?$/.exec(text);
  return parts !== null && isAuthority(parts[1]) && URL.canParse(text);
}

/** `http://host/path`, to which paths are added. */
export function isHttpBaseUrl(text: string): boolean {
  return isHttpUrl(text) && !/[?#]/.test(text);
}

/** `postgres://user:password@host:port/name?option=value`, several `host:port` after commas; `pglite:`. */
export function isDatabaseUrl(text: string): boolean {
  if (text.startsWith("pglite://")) return isEmbeddedDatabaseUrl(text);
  const parts = /^postgres(?:ql)?:\/\/([^\s/?#]+)(?:\/[^\s/?#@]*)?(?:\?([^\s#@]*))?$/.exec(text);
  if (parts === null) return false;
  const { user, hosts } = splitAuthority(parts[1] ?? "");
  return hosts.every(isHost) && isAuthority(`${user}${hosts[0]}`) && areDatabaseOptions(parts[2] ?? "");
}

function isEmbeddedDatabaseUrl(text: string): boolean {
  if (text === "pglite://memory") return true;
  const folder = decoded(text.slice("pglite://".length));
  return folder !== null && /^\/[^/\0][^\0]*$/.test(folder);
}

/** By each of these the certificate and its name are checked. What is encrypted by luck alone is left out. */
const TLS_MODES = ["require", "verify-ca", "verify-full"];
/** Of libpq: files are named by variables of their own. `sslrootcert=system` asks for the public CAs. */
const FILE_OPTIONS = ["sslcert", "sslkey", "sslpassword", "sslcrl", "sslcrldir"];
/** Every service writes. */
const SESSION_KINDS = ["primary", "read-write"];

/** Options that the driver would refuse at the first connection, or read as something else. */
function areDatabaseOptions(query: string): boolean {
  const options = new URLSearchParams(query);
  return (
    ["disable", ...TLS_MODES].includes(options.get("sslmode") ?? "disable") &&
    (options.get("sslrootcert") ?? "system") === "system" &&
    !FILE_OPTIONS.some((name) => options.has(name)) &&
    SESSION_KINDS.includes(options.get("target_session_attrs") ?? "primary")
  );
}

/** Whether the server of a `postgres:` URL is to be called by TLS. */
export function databaseUsesTls(url: string): boolean {
  const options = new URLSearchParams(/^postgres(?:ql)?:[^?]*\?(.*)$/.exec(url)?.[1]);
  return TLS_MODES.includes(options.get("sslmode") ?? "") || options.get("sslrootcert") === "system";
}

/** `http://host:port` of etcd, more of them after commas, all by http or all by https; `memory://`. */
export function isRouteStoreUrl(text: string): boolean {
  if (text === "memory://") return true;
  const endpoints = text.split(",").map((item) => /^(https?):\/\/([^\s/?#]+)\/?$/.exec(item.trim()));
  const schemes = new Set(endpoints.map((endpoint) => endpoint?.[1]));
  const named = !schemes.has("https") || endpoints.every((endpoint) => isNamed(endpoint?.[2]));
  return schemes.size === 1 && named && endpoints.every((endpoint) => isEndpoint(endpoint?.[2]));
}

/** The library under etcd's client asks TLS for the host by its name, which an address is not. */
function isNamed(authority = ""): boolean {
  const host = URL.parse(`http://${authority}`)?.hostname ?? "";
  return isIP(host.replace(/^\[|\]$/g, "")) === 0;
}

/** etcd's users always have a password. */
function isEndpoint(authority: string | undefined): boolean {
  if (authority === undefined || !isAuthority(authority)) return false;
  const { username, password } = new URL(`http://${authority}`);
  return (username === "") === (password === "");
}

/** `redis://user:password@host:port/database`, `rediss://…`, `redis+cluster://a:6379,b:6379`, `rediss+cluster://…`, `memory://`. */
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

/** `https://app.example.com`: scheme, host and port alone, as a browser sends it. */
export function isOrigin(text: string): boolean {
  const parts = /^[a-z][a-z0-9+.-]*:\/\/([^\s/?#@]+)$/i.exec(text);
  return parts !== null && isAuthority(parts[1]);
}

/** An IP address, or a name of a host: no text that a resolver would read as a number. */
export function isBindAddress(text: string): boolean {
  const labels = text.split(".");
  const isName = labels.every((label) => /^[a-z0-9_][a-z0-9_-]{0,62}$/i.test(label));
  return isIP(text) !== 0 || (isName && !/^(\d+|0x[\da-f]*)$/i.test(labels.at(-1) ?? ""));
}

/** The items of a list that is separated by commas; empty ones, as after a last comma, are none. */
export function listItems(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** `user:password@` and the hosts of an authority that may name several. */
function splitAuthority(authority: string): { user: string; hosts: string[] } {
  const end = authority.lastIndexOf("@") + 1;
  return { user: authority.slice(0, end), hosts: authority.slice(end).split(",") };
}

function isHost(text: string): boolean {
  return !text.includes("@") && isAuthority(text);
}

/** `user:password@host:port`: one host, no port or one from 1 to 65535, escapes that can be read. */
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

/** Whether an item is `key=value` whose parts can be unescaped, and whose key is a token. */
export function isKeyPair(item: string): boolean {
  const [key = "", ...value] = item.split("=");
  if (value.length === 0 || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(key.trim())) return false;
  try {
    decodeURIComponent(item);
    return true;
  } catch {
    return false;
  }
}
