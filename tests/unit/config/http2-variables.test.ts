/** Tests of the HTTP/2 variables. The gateway refuses combinations with which no client could reach it. */
import { describe, expect, test } from "bun:test";
import { checkHttp2, gatewayVariables } from "@ostiary/gateway/config";
import { configProblems } from "@ostiary/lib/runtime/config";
import { loadPlatform } from "@ostiary/platform/config";

const TLS = { TLS_CERT_FILE: "/tls/cert.pem", TLS_KEY_FILE: "/tls/key.pem" };

function problems(env: Record<string, string>): string[] {
  return configProblems(gatewayVariables, env, checkHttp2)
    .filter(({ variable }) => variable.startsWith("HTTP2"))
    .map(({ variable, message }) => `${variable} ${message}`);
}

// GW-170
describe("the gateway refuses", () => {
  test.each<[string, Record<string, string>, string]>([
    [
      "HTTP/2 without TLS, unless HTTP2_CLEARTEXT is set",
      { HTTP2_ENABLED: "true" },
      "HTTP2_ENABLED needs TLS_CERT_FILE and TLS_KEY_FILE, or HTTP2_CLEARTEXT where a balancer speaks HTTP/2 without TLS.",
    ],
    [
      "cleartext HTTP/2 that is not enabled",
      { HTTP2_CLEARTEXT: "true" },
      "HTTP2_CLEARTEXT has no effect without HTTP2_ENABLED: set HTTP2_ENABLED too.",
    ],
    [
      "cleartext HTTP/2 on a port that speaks TLS",
      { HTTP2_ENABLED: "true", HTTP2_CLEARTEXT: "true", ...TLS },
      "HTTP2_CLEARTEXT cannot be used with TLS_CERT_FILE and TLS_KEY_FILE: set either this variable or the files.",
    ],
  ])("%s", (_, env, problem) => {
    expect(problems(env)).toEqual([problem]);
  });

  test("a value that is neither true nor false", () => {
    expect(problems({ HTTP2_ENABLED: "yes" })).toEqual(["HTTP2_ENABLED must be true or false."]);
  });
});

test.each<[string, Record<string, string>]>([
  ["no variables, so that HTTP/2 is off", {}],
  ["HTTP/2 over TLS", { HTTP2_ENABLED: "true", ...TLS }],
  ["HTTP/2 without TLS if HTTP2_CLEARTEXT is set", { HTTP2_ENABLED: "true", HTTP2_CLEARTEXT: "true" }],
  ["TLS alone", TLS],
])("the gateway accepts %s", (_, env) => {
  expect(problems(env)).toEqual([]);
});

test("the platform has no HTTP/2", () => {
  for (const variable of ["HTTP2_ENABLED", "HTTP2_CLEARTEXT"]) {
    expect(() => loadPlatform({ [variable]: "true" })).toThrow(
      `${variable} works only for gateways that run outside the platform: remove it.`,
    );
  }
});
