import { type BlockList, isIP } from "node:net";
import { listItems } from "@ostiary/lib/runtime/config";
import { listOf, mayCall } from "./public-addresses.ts";

export const URL_LENGTH_MAX = 2_048;

/** The addresses that the operator lets streams send to. */
export interface TargetRules {
  allowHttp: boolean;
  /** The allowed ports, in addition to 443, and to 80 if http is allowed. */
  ports: ReadonlySet<number>;
  /** The networks that are not public but that streams may send to. */
  networks: BlockList;
}

const HTTPS_PORT = 443;
const HTTP_PORT = 80;

export interface TargetConfig {
  AUDIT_STREAM_ALLOW_HTTP: boolean;
  AUDIT_STREAM_ALLOWED_PORTS?: string;
  AUDIT_STREAM_ALLOWED_NETWORKS?: string;
}

export function targetRulesOf(config: Partial<TargetConfig>): TargetRules {
  return {
    allowHttp: config.AUDIT_STREAM_ALLOW_HTTP ?? false,
    ports: new Set(listItems(config.AUDIT_STREAM_ALLOWED_PORTS ?? "").map(Number)),
    networks: listOf(listItems(config.AUDIT_STREAM_ALLOWED_NETWORKS ?? "")),
  };
}

/** The address of a receiver that {@link urlProblem} accepted. */
export interface Target {
  url: URL;
  /** The host of the URL; an IPv6 address has no brackets. */
  host: string;
  port: number;
  isHttps: boolean;
}

export function targetOf(text: string): Target {
  const url = new URL(text);
  const isHttps = url.protocol === "https:";
  return {
    url,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (isHttps ? HTTPS_PORT : HTTP_PORT) : Number(url.port),
    isHttps,
  };
}

/**
 * Returns the problem of a receiver's URL, or null if the service may call the URL (AU-94). Each connection checks the
 * addresses of a host name again, because they can change.
 */
export function urlProblem(text: string, rules: TargetRules): string | null {
  const { allowHttp } = rules;
  const schemes = allowHttp ? "an http:// or https:// URL" : "an https:// URL";
  if (text.length > URL_LENGTH_MAX || !/^https?:\/\/[^/\\][\x21-\x7e]*$/i.test(text) || text.includes("\\")) {
    return `url must be ${schemes} of at most ${URL_LENGTH_MAX} visible ASCII characters.`;
  }
  if (!URL.canParse(text)) return `url must be ${schemes}.`;
  const { url, host, port, isHttps } = targetOf(text);
  if (!isHttps && !allowHttp) return "url must be an https:// URL.";
  if (url.username !== "" || url.password !== "") return "url must not contain a user name or a password.";
  if (text.includes("#")) return "url must not have a fragment.";
  if (!isPortAllowed(port, rules)) return `url must have a port that the operator allows, not ${port}.`;
  if (isIP(host) !== 0 && !mayCall(host, rules.networks)) return "url must name a public address.";
  return null;
}

function isPortAllowed(port: number, { allowHttp, ports }: TargetRules): boolean {
  return port === HTTPS_PORT || (port === HTTP_PORT && allowHttp) || ports.has(port);
}

/** Returns a URL for the audit log, without the text of its query, which may contain a token. */
export function urlWithoutQuery(text: string): string {
  const { origin, pathname, search } = new URL(text);
  return `${origin}${pathname}${search === "" ? "" : "?…"}`;
}
