/** Tests of the parameters in the query of a `DATABASE_URL`. */
import { describe, expect, test } from "bun:test";
import { configProblems } from "@ostiary/lib/runtime/config";
import { registryVariables } from "@ostiary/registry/config";
import { withoutSettings } from "../../../lib/runtime/stores/database/session-settings.ts";

/** Every parameter that libpq 18 documents, as its array of options names them. */
const LIBPQ = `application_name channel_binding client_encoding connect_timeout dbname
  fallback_application_name gssdelegation gssencmode gsslib host hostaddr keepalives keepalives_count
  keepalives_idle keepalives_interval krbsrvname load_balance_hosts max_protocol_version min_protocol_version
  oauth_client_id oauth_client_secret oauth_issuer oauth_scope options passfile password port replication
  require_auth requirepeer requiressl scram_client_key scram_server_key service servicefile ssl_max_protocol_version
  ssl_min_protocol_version sslcert sslcertmode sslcompression sslcrl sslcrldir sslkey sslkeylogfile sslmode
  sslnegotiation sslpassword sslrootcert sslsni target_session_attrs tcp_user_timeout user`.split(/\s+/);

function problem(query: string): string | undefined {
  const found = configProblems(registryVariables, { DATABASE_URL: `postgres://u:p@h/db?${query}` });
  return found.find(({ variable }) => variable === "DATABASE_URL")?.message;
}

// OP-120
describe("a parameter of libpq in DATABASE_URL", () => {
  test.each([...LIBPQ, "ssl", "max", "prepare", "idle_timeout"])(
    "%s with an unusable value is named",
    (name) => {
      if (name === "options" || name === "application_name") return;
      const message = problem(`${name}=hunter2`);
      expect(message).toMatch(new RegExp(`\\b${name}\\b`));
      expect(message).not.toContain("hunter2");
    },
  );

  test.each([
    [
      "channel_binding=require",
      "has a value of the parameter channel_binding that the service cannot honour.",
    ],
    ["sslcert=/a", "has the parameter sslcert, which the service does not read: set DATABASE_CERT_FILE."],
    [
      "work_mem=8MB&require_auth=none",
      "has the parameter require_auth, which the service cannot honour: remove the parameter.",
    ],
  ])("%s is refused with what to do", (query, message) => expect(problem(query)).toBe(message));
});

test("the server gets its own settings, and none of the client's parameters", () => {
  const url =
    "postgres://h/db?sslmode=require&channel_binding=prefer&connect_timeout=3&work_mem=8MB&TimeZone=x&gssencmode=disable";
  expect(withoutSettings(url, { timezone: "UTC" })).toBe("postgres://h/db?work_mem=8MB");
});
