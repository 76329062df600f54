import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { auditVariables } from "@ostiary/audit/config";
import { checkOperatorStream } from "@ostiary/audit/streams/operator/config";
import { configProblems } from "@ostiary/lib/runtime/config";

const URL_OF_RECEIVER = "https://siem.example.com/ostiary";
const secretOf = (bytes: number) => `whsec_${randomBytes(bytes).toString("base64")}`;
const SECRET = secretOf(32);

function problems(env: Record<string, string>): string[] {
  const all = { DATABASE_URL: "pglite://memory", INTERNAL_AUTH_TOKEN: "x".repeat(32), ...env };
  return configProblems(auditVariables, all, checkOperatorStream).map(
    ({ variable, message }) => `${variable} ${message}`,
  );
}

// AU-112
describe("the configuration of the operator's stream", () => {
  test.each([
    ["no variables", {}],
    [
      "two secrets, a format and a starting point",
      {
        AUDIT_OPERATOR_STREAM_URL: URL_OF_RECEIVER,
        AUDIT_OPERATOR_STREAM_SECRET: `${secretOf(24)}, ${secretOf(64)}`,
        AUDIT_OPERATOR_STREAM_FORMAT: "ocsf",
        AUDIT_OPERATOR_STREAM_FROM: "start",
      },
    ],
    [
      "a private address in an allowed network",
      {
        AUDIT_OPERATOR_STREAM_URL: "http://10.0.0.7:8088/x",
        AUDIT_OPERATOR_STREAM_SECRET: SECRET,
        AUDIT_STREAM_ALLOW_HTTP: "true",
        AUDIT_STREAM_ALLOWED_NETWORKS: "10.0.0.0/8",
        AUDIT_STREAM_ALLOWED_PORTS: "8088",
      },
    ],
  ])("accepts %s", (_, env) => {
    expect(problems(env)).toEqual([]);
  });

  test.each([
    [
      { AUDIT_OPERATOR_STREAM_URL: URL_OF_RECEIVER },
      "AUDIT_OPERATOR_STREAM_SECRET is required if AUDIT_OPERATOR_STREAM_URL is set.",
    ],
    [
      { AUDIT_OPERATOR_STREAM_SECRET: SECRET },
      "AUDIT_OPERATOR_STREAM_URL is required if AUDIT_OPERATOR_STREAM_SECRET is set.",
    ],
  ])("refuses %p", (env, problem) => {
    expect(problems(env)).toEqual([problem]);
  });

  test("refuses a URL that a stream may not call", () => {
    const url = "http://siem.example.com/";
    expect(problems({ AUDIT_OPERATOR_STREAM_URL: url, AUDIT_OPERATOR_STREAM_SECRET: SECRET })).toEqual([
      "AUDIT_OPERATOR_STREAM_URL must be an https:// URL.",
    ]);
  });

  test.each([`whsec_${"!".repeat(44)}`, secretOf(23), secretOf(65), `${SECRET},${SECRET},${SECRET}`])(
    "refuses the secret %s without repeating it",
    (secret) => {
      const found = problems({
        AUDIT_OPERATOR_STREAM_URL: URL_OF_RECEIVER,
        AUDIT_OPERATOR_STREAM_SECRET: secret,
      });
      expect(found[0]).toStartWith("AUDIT_OPERATOR_STREAM_SECRET must be whsec_ with the output of openssl");
      expect(found.join(" ")).not.toContain(secret);
    },
  );
});
