export interface Server {
  /** The URL with this server alone, for the driver. */
  url: string;
  host: string;
  port: number;
}

const DEFAULT_PORT = 5432;

export function serversOf(url: string): Server[] {
  const [, scheme = "", authority = "", rest = ""] = /^([a-z]+:\/\/)([^/?#]*)(.*)$/.exec(url) ?? [];
  const end = authority.lastIndexOf("@") + 1;
  return authority
    .slice(end)
    .split(",")
    .map((place) => {
      const [, address, name = "", port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(place) ?? [];
      return {
        url: `${scheme}${authority.slice(0, end)}${place}${rest}`,
        host: address ?? decodeURIComponent(name),
        port: port === undefined ? DEFAULT_PORT : Number(port),
      };
    });
}

/** Returns whether connections must lead to a primary: the URL has several servers, or requires a primary. */
export function wantsPrimary(url: string): boolean {
  const asked = parametersOf(url).get("target_session_attrs");
  return asked === "primary" || asked === "read-write" || serversOf(url).length > 1;
}

/** Returns `connect_timeout` of the URL, or null. Like in libpq, 0 means no limit. */
export function connectTimeoutOf(url: string): number | null {
  const seconds = Number(parametersOf(url).get("connect_timeout") ?? 0);
  return seconds > 0 ? seconds * 1000 : null;
}

function parametersOf(url: string): URLSearchParams {
  return new URLSearchParams(url.split("?", 2)[1]);
}
