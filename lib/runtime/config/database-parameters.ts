/** The values that the service honours. Unlike libpq, it verifies the certificate for each `sslmode` with TLS. */
const HONOURED: Readonly<Record<string, RegExp>> = {
  application_name: /^/,
  channel_binding: /^(disable|prefer)$/,
  client_encoding: /^(auto|utf-?8)$/i,
  connect_timeout: /^\d{1,6}$/,
  gssencmode: /^(disable|prefer)$/,
  load_balance_hosts: /^disable$/,
  options: /^/,
  replication: /^(false|off|no|0)$/,
  sslcompression: /^0$/,
  sslmode: /^(disable|require|verify-ca|verify-full)$/,
  sslnegotiation: /^(postgres|direct)$/,
  sslrootcert: /^system$/,
  sslsni: /^1$/,
  target_session_attrs: /^(primary|read-write)$/,
};

const ELSEWHERE: Readonly<Record<string, string>> = {
  dbname: "write the database after the host",
  host: "write the host after the @",
  hostaddr: "write the address as the host",
  passfile: "name a file with the whole URL in DATABASE_URL_FILE",
  password: "write the password before the @",
  port: "write the port after the host",
  sslcert: "set DATABASE_CERT_FILE",
  sslkey: "set DATABASE_KEY_FILE",
  sslrootcert: "set DATABASE_CA_FILE",
  user: "write the user before the @",
  ssl: "write sslmode=verify-full",
};

/** Without this list, the server would refuse these parameters of libpq, and the driver would read its own options. */
const UNSUPPORTED = new Set(
  `fallback_application_name gssdelegation gsslib keepalives keepalives_count keepalives_idle keepalives_interval
  krbsrvname max_protocol_version min_protocol_version oauth_client_id oauth_client_secret oauth_issuer
  oauth_scope require_auth requirepeer requiressl scram_client_key scram_server_key service servicefile
  ssl_max_protocol_version ssl_min_protocol_version sslcertmode sslcrl sslcrldir sslkeylogfile sslpassword
  tcp_user_timeout tty authtype
  backoff debug fetch_types idle_timeout keep_alive max max_lifetime max_pipeline prepare publications`.split(
    /\s+/,
  ),
);

/**
 * Returns what is wrong with the parameters, without their values. A parameter that neither libpq nor the driver knows
 * is a setting of the server.
 */
export function databaseParameterProblem(query: string): string | null {
  for (const [name, value] of new URLSearchParams(query)) {
    if (HONOURED[name]?.test(value)) continue;
    const advice = ELSEWHERE[name];
    if (advice !== undefined) return `has the parameter ${name}, which the service does not read: ${advice}.`;
    if (name in HONOURED) return `has a value of the parameter ${name} that the service cannot honour.`;
    if (UNSUPPORTED.has(name))
      return `has the parameter ${name}, which the service cannot honour: remove the parameter.`;
  }
  return null;
}

/** Returns whether the service or its driver reads the parameter, so that the server does not get it. */
export function isClientParameter(name: string): boolean {
  return name in HONOURED && name !== "application_name" && name !== "options";
}
