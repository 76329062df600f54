import { describe, expect, test } from "bun:test";
import { allowedOrigins, gatewayVariables } from "@ostiary/gateway/config";
import { configProblems } from "@ostiary/lib/runtime/config";
import { schemas } from "../../readmes/readmes.ts";
import { wordsOf } from "../../support/words.ts";

/** The configuration variables of each app (OP-7). */
const { demo: _demo, portal: _portal, ...apps } = schemas;

/** The apps that read each variable. */
const readers = new Map<string, string[]>();
for (const [app, { properties }] of Object.entries(apps)) {
  for (const variable of Object.keys(properties)) {
    readers.set(variable, [...(readers.get(variable) ?? []), app]);
  }
}
const shared = [...readers].filter(([, names]) => names.length > 1);

/** Returns the rule of a variable, without the default and the description, in which apps may differ. */
function ruleOf(variable: string, app: string): object {
  const { default: _default, description: _description, ...rule } = apps[app]?.properties[variable] ?? {};
  return Object.fromEntries(Object.entries(rule));
}

describe("a variable of several apps", () => {
  // OP-7
  test.each(shared)("%s has the same rule in every app", (variable, [first = "", ...others]) => {
    for (const app of others) expect(ruleOf(variable, app)).toEqual(ruleOf(variable, first));
  });
});

describe("every variable", () => {
  const all = [...readers].map(([variable, [app = ""]]) => [variable, app] as const);

  // OP-8
  test.each(all)("%s must not be white space only", (variable) => {
    expect(verdicts(variable, " \t")).not.toContain(true);
  });
});

/** Returns whether each app that reads a variable accepts a value. */
function verdicts(variable: string, value: string, names = readers.get(variable) ?? []): boolean[] {
  return names.map((app) => {
    const problems = configProblems(apps[app] ?? gatewayVariables, { [variable]: value });
    return !problems.some((problem) => problem.variable === variable);
  });
}

interface Examples {
  accepted: string[];
  refused: string[];
}

const urls: Examples = {
  accepted: ["http://a", "https://a.example.com:8443/path", "http://[::1]:80/x", "http://127.0.0.1:65535"],
  refused: [
    ...["a", "//a", "http:", "http://", "http:///x", "ftp://a", "http://a b", "http://a:0", "http://a:70000"],
    ...wordsOf("http://a:port http://[::1 http://a,b http://%zz"),
  ],
};
const numbers = [..."-1 +5 1e3 0x10 0b1 1.0 1_000 ٣ NaN Infinity".split(" "), " 5", "5 ", "9".repeat(17)];

const examples: Record<string, Examples> = {
  DATABASE_URL: {
    accepted: wordsOf(`
      postgres://h/db postgresql://u:p@h:5432/db postgres://u@h postgres://u:p%40%23%2F@h/db
      postgres://u:p@ss@h/db postgres://u:p@a:5432,b:5433/db postgres://u:p@[::1]:5432/db?sslmode=require
      postgres://u:p@a:5432,b,[::1]:5433/db?target_session_attrs=primary
      postgres://u:p@h/db?sslmode=verify-full&sslrootcert=system
      postgres://u:p@x@a,b/db?target_session_attrs=read-write
      pglite://memory pglite:///var/lib/ostiary pglite:///with%20space
    `),
    refused: [
      ...wordsOf(`
        mysql://h/db postgres: postgres:// postgres:///db postgres://h:0/db postgres://h:70000/db
        postgres://u:p#ss@h/db postgres://u:12#34@h/db postgres://u:12/34@h/db postgres://u:12?34@h/db
        postgres://u:%zz@h/db postgres://h/db#x postgres://u:p@a,/db postgres://u:p@,b/db
        postgres://h/db?sslmode=requires postgres://h/db?target_session_attrs=any postgres://h/db?sslmode=
        postgres://h/db?sslmode=allow postgres://h/db?sslmode=prefer postgres://h/db?sslmode=no-verify
        postgres://h/db?sslmode=VERIFY-FULL
        postgres://a,b/db?target_session_attrs=standby postgres://a,b/db?target_session_attrs=read-only
        postgres://u@a:5432,,b/db postgres://u@a,b:0/db pglite: pglite:// pglite:/// pglite://dir
        pglite:////dir pglite://memory/ pglite:///%zz pglite:///a%00b memory://
      `),
      ...["postgres://h /db", "postgres://h/d b"],
    ],
  },
  ROUTE_STORE_URL: {
    accepted: [
      ...wordsOf(`
        memory:// http://etcd:2379 https://etcd http://a:1,http://b:2 http://root:p%40ss@etcd:2379
        http://10.0.0.1:2379 https://a:2379,https://b.example:2379
      `),
      "http://a:1 , http://b:2/",
    ],
    refused: [
      ...wordsOf(`
        etcd etcd:2379 ftp://etcd http:// http://a:0 http://a:70000 http://a, ,http://a http://a,,http://b
        http://a,b http://a,https://b http://a/path http://a?x http://a#x
        memory: memory://x memory://,http://a http://root@etcd http://root:%zz@etcd
      `),
      "http://a b",
    ],
  },
  COUNTER_STORE_URL: {
    accepted: [
      ...wordsOf("memory:// redis://h rediss://h:6380 redis://:p%40@h:6379/3 redis://u:p@h/?family=6"),
      ...["redis+cluster://a:6379,b:6379", "redis+cluster://a", "redis+cluster://u:p@a, b:1"],
      ...wordsOf("rediss+cluster://a:6379,b:6379 rediss://a:6379/1"),
    ],
    refused: [
      ...wordsOf(`
        redis redis: redis:// redis:///0 redis://h:0 redis://h:70000 redis://h/db redis://h/0/1
        redis://u:12#34@h redis://u:12/34@h redis://u:%zz@h redis://a,b
        redis+cluster:// redis+cluster://, redis+cluster://a, redis+cluster://a,,b redis+cluster://a/1
        redis+cluster://u:p@ redis+sentinel://a http://h memory://x
      `),
      "redis://h o",
    ],
  },
  HOST: {
    accepted: ["0.0.0.0", "127.0.0.1", "::", "::1", "localhost", "node-1.internal", "3f2a9c", "my_host"],
    refused: [
      ..."300.1.1.1 999 127.1 0x7f000001 127.0.0.1:80 [::1] -a http://a a..b *".split(" "),
      " ::1",
      "a b",
    ],
  },
  PORT: { accepted: ["0", "1", "08", "65535"], refused: ["65536", ...numbers] },
  MAX_BODY_BYTES: { accepted: ["0", "1", "9007199254740991"], refused: ["9007199254740992", ...numbers] },
  SHUTDOWN_TIMEOUT_MS: { accepted: ["0", "600000"], refused: ["600001", ...numbers] },
  AUDIT_ENABLED: {
    accepted: ["true", "false"],
    refused: ["yes", "no", "1", "0", "TRUE", "True", "on", "true "],
  },
  REUSE_PORT: { accepted: ["true", "false"], refused: ["yes", "1"] },
  LOG_LEVEL: { accepted: ["debug", "error"], refused: ["INFO", "trace", "loud", "info "] },
  LOG_FILE: {
    accepted: ["-", "/tmp/ostiary-is-never-written.log"],
    refused: ["/tmp", "/nowhere/log", "/tmp/"],
  },
  OTEL_TRACES_EXPORTER: { accepted: ["otlp", "none"], refused: ["zipkin", "OTLP"] },
  OTEL_EXPORTER_OTLP_ENDPOINT: urls,
  CREDENTIAL_VALIDATE_URL: { ...urls, accepted: [...urls.accepted, "http://a/validate?x=1"] },
  AUTH_JWKS_URI: urls,
  AUDIT_URL: { ...urls, refused: [...urls.refused, "http://a?x", "http://a#x"] },
  AUTH_ISSUER: {
    accepted: ["https://login.example.com/", "any text"],
    refused: [" https://a", "https://a\n"],
  },
  AUTH_ALLOWED_AUDIENCES: { accepted: ["a", "a, b", "a,", "a, ,b"], refused: [",", " , "] },
  ALLOWED_ORIGINS: {
    accepted: [
      ...["https://a.example.com", "http://localhost:3000, capacitor://localhost,"],
      "HTTPS://A.example.com:443",
    ],
    refused: wordsOf(`
      * null a.example.com https://a/ https://a/path https://a?x https://a#x , https://a,b https://a:0
      https://a:70000 https://u:p@a https://
    `),
  },
  ADMIN_TOKEN: { accepted: ["t0ken-~!"], refused: ["two words", "tökén", "tab\t"] },
  INTERNAL_AUTH_TOKEN: { accepted: ["t0ken-~!"], refused: ["two words", "tökén", "line\n"] },
  SEED_ROUTES_DIR: { accepted: ["seeds"], refused: ["/nowhere", "package.json"] },
  APIKEY_BRAND: { accepted: ["acme2"], refused: ["", "Acme", "2acme", "a-b", "a".repeat(33)] },
};

// OP-11, OP-21
describe.each(Object.entries(examples))("%s", (variable, { accepted, refused }) => {
  test.each(accepted)("accepts %p", (value) => {
    expect(verdicts(variable, value)).not.toContain(false);
  });
  test.each(refused)("refuses %p", (value) => {
    expect(verdicts(variable, value)).not.toContain(true);
  });
});

describe("ALLOWED_ORIGINS", () => {
  test("is normalized to the form in which browsers send origins", () => {
    const list = "HTTPS://App.Example.com:443, http://localhost:3000,capacitor://localhost";
    expect(allowedOrigins({ ALLOWED_ORIGINS: list })).toEqual([
      "https://app.example.com",
      "http://localhost:3000",
      "capacitor://localhost",
    ]);
  });
});
