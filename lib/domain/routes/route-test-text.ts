/** Describes route tests in words for the command line and the console. */
import type { RouteTest } from "./route-test-schema.ts";

/** Returns a text with the request, the caller and the expectation of a test, without its name. */
export function testText({ method, path, role, labels, plan, expect }: RouteTest): string {
  const callers = [
    ...(role === undefined ? [] : [`role ${role}`]),
    ...(labels === undefined ? [] : [`labels ${labels.join(", ") || "none"}`]),
    ...(plan === undefined ? [] : [`plan ${plan}`]),
  ];
  const asks = [`${method} ${path}`, ...callers].join(" with ");
  return `${asks}: ${expectationText(expect)}`;
}

/** Returns a short text that describes the expectation of a test. */
function expectationText({ status, service, upstream, allowed, requests }: RouteTest["expect"]): string {
  if (status !== undefined) return "no route";
  return [
    ...(service === undefined ? [] : [`service ${service}`]),
    ...(upstream === undefined ? [] : [`upstream ${upstream}`]),
    ...(allowed === undefined ? [] : [allowed ? "allowed" : "not allowed"]),
    ...(requests === undefined ? [] : [requests === false ? "no limit" : `${requests} requests`]),
  ].join(", ");
}
