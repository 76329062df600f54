import { Lookup } from "@ostiary/lib/contracts/registry-api";
import { bodyText, limitText, METHODS, timeoutText } from "@ostiary/lib/domain/routes";
import { Argument, type Command, Option } from "commander";
import { pathTo } from "../registry-client.ts";
import { methodArgument, pathArgument, type Run } from "./command.ts";

interface Caller {
  role?: string;
  labels?: string;
  plan?: string;
}

/**
 * Adds `explain METHOD PATH`, which shows the route that would serve a request, and whether a caller may send
 * it.
 */
export function addExplain(program: Command, run: Run): void {
  program
    .command("explain")
    .description("Show which route serves a request, or the nearest routes if none does")
    .addArgument(new Argument("<method>", "the request's method").choices(METHODS).argParser(methodArgument))
    .argument("<path>", "the request's path, or its whole URL", pathArgument)
    .addOption(new Option("--role <role>", "show whether a member with this role may use the route"))
    .addOption(
      new Option(
        "--labels <labels>",
        "show whether a member with these labels, separated by commas, may use the route",
      ).conflicts("role"),
    )
    .addOption(new Option("--plan <plan>", "show the limits of an organization with this plan"))
    .addHelpText(
      "after",
      `
Examples:
  $ ${program.name()} explain GET /org/widgets/42
  $ ${program.name()} explain get https://api.example.com/org/widgets/42?size=large
  $ ${program.name()} explain DELETE /org/widgets/42 --role admin
  $ ${program.name()} explain DELETE /org/widgets/42 --labels widgets:read,widgets:write
  $ ${program.name()} explain GET /org/widgets/42 --plan pro`,
    )
    .action((method: string, path: string, caller: Caller) =>
      run(async ({ registry, output }) => {
        const response = await registry.call(Lookup, pathTo("routes"), {
          query: { method, path, ...caller },
        });
        output.result(response, (route) => {
          output.line(`${route.method} ${route.path} of ${route.service} serves this request.`);
          output.table(["setting", "value"], settingsOf(route), "");
          if (route.allowed !== undefined) output.line(decisionText(route, caller));
        });
      }),
    );
}

function settingsOf(route: Lookup): string[][] {
  const params = Object.entries(route.params).map(([name, value]) => `${name} = ${value}`);
  return [
    ["scope", route.scope],
    ["params", params.join(", ") || "none"],
    ["required labels", route.required_labels?.join(", ") ?? "none"],
    ["rate limit", limitText(route.rate_limit) || "the gateway's default"],
    ...(route.limits === undefined ? [] : [["limits of the plan", limitText(route.limits) || "unlimited"]]),
    ["audit", route.audit ? "yes" : "no"],
    ["timeout", route.timeout_ms === null ? "the gateway's default" : timeoutText(route.timeout_ms)],
    [
      "largest body",
      route.max_body_bytes === null ? "the gateway's default" : bodyText(route.max_body_bytes),
    ],
    ["upstream", route.upstream ?? "the request's path"],
  ];
}

function decisionText({ allowed, decided_by = [], scope }: Lookup, { role, labels }: Caller): string {
  const who = role === undefined ? `A member with ${labels}` : `The role ${role}`;
  if (!allowed) return `${who} may not use the route, which requires ${decided_by.join(" or ")}.`;
  if (decided_by.length > 0) return `${who} may use the route because of ${decided_by.join(" and ")}.`;
  if (scope === "public") return "Everybody may use the route: it is public.";
  if (scope === "user") return "Every user may use the route: labels do not apply to user routes.";
  return `${who} may use the route, as every member may: it requires no labels.`;
}
