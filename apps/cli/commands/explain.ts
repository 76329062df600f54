import { Lookup } from "@ostiary/lib/contracts/registry-api";
import { METHODS } from "@ostiary/lib/domain/routes";
import { Argument, type Command } from "commander";
import { pathTo } from "../registry-client.ts";
import { pathArgument, type Run } from "./command.ts";
import { limitText } from "./services.ts";

/** `explain METHOD PATH`: which route would serve a request. */
export function addExplain(program: Command, run: Run): void {
  program
    .command("explain")
    .description("Show which route would serve a request, or which come closest")
    .addArgument(new Argument("<method>", "the request's method").choices(METHODS))
    .argument("<path>", "the request's path", pathArgument)
    .addHelpText("after", "\nExample:\n  $ bun cli explain GET /org/widgets/42")
    .action((method: string, path: string) =>
      run(async ({ registry, output }) => {
        const answer = await registry.ask(Lookup, pathTo("routes"), { query: { method, path } });
        output.result(answer, (route) => {
          output.line(`${route.method} ${route.path} of ${route.service} serves this request.`);
          output.table(["setting", "value"], settingsOf(route), "");
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
    ["audit", route.audit ? "yes" : "no"],
    ["upstream", route.upstream ?? "the request's path"],
  ];
}
