import { Service, Services } from "@ostiary/lib/contracts/registry-api";
import {
  bodyText,
  countRoutes,
  limitText,
  SCOPES,
  type StoredServiceConfig,
  timeoutText,
} from "@ostiary/lib/domain/routes";
import type { Command } from "commander";
import { pathTo } from "../registry-client.ts";
import type { Run } from "./command.ts";

/** The reason, as the end of a message, why the registry cannot show a service or revision. */
export const UNREADABLE =
  "another version of the registry stored it, and the registry that responded cannot read it";

/** Adds `services [NAME]`, which lists the current services. */
export function addServices(program: Command, run: Run): void {
  program
    .command("services")
    .description("List the current services, or the routes of one")
    .argument("[name]", "show the routes of this service")
    .addHelpText(
      "after",
      `
Each method of a path counts as a route, here and in \`gateways\`.

Examples:
  $ ${program.name()} services
  $ ${program.name()} services widgets
  $ ${program.name()} services --json > backup.json    a document that apply accepts`,
    )
    .action((name: string | undefined) =>
      run(async ({ registry, output }) => {
        if (name === undefined) {
          const response = await registry.call(Services, pathTo("services"));
          return output.result(response, ({ services, unreadable = {} }) => {
            const others = Object.keys(unreadable);
            output.table(
              ["service", "url", "scopes", "routes"],
              Object.entries(services).map(([service, config]) => summary(service, config)),
              others.length === 0 ? "No service is published." : "",
            );
            for (const service of others) output.line(`${service}: ${UNREADABLE}.`);
          });
        }
        const response = await registry.call(Service, pathTo("services", name));
        output.result(response, (service) => {
          output.line(`${service.name}, revision ${service.revision}, at ${service.url}`);
          output.table(
            ["methods", "path", "scope", "labels", "limit", "audit", "timeout", "body", "upstream"],
            routesOf(service),
            "The service has no routes.",
          );
        });
      }),
    );
}

function summary(name: string, config: StoredServiceConfig): string[] {
  const scopes = SCOPES.filter((scope) => config[scope] !== undefined);
  const routes = scopes.flatMap((scope) => config[scope]?.routes ?? []);
  return [name, config.url, scopes.join(", "), String(countRoutes(routes))];
}

function routesOf(config: StoredServiceConfig): string[][] {
  return SCOPES.flatMap((scope) =>
    (config[scope]?.routes ?? []).map((route) => [
      route.methods.join(", "),
      route.path,
      scope,
      route.required_labels?.join(", ") ?? "",
      limitText(route.rate_limit),
      route.audit === undefined ? "" : String(route.audit),
      boundText(route.timeout_ms ?? config.timeout_ms, timeoutText),
      boundText(route.max_body_bytes ?? config.max_body_bytes, bodyText),
      route.upstream ?? "",
    ]),
  );
}

function boundText(bound: number | undefined, text: (bound: number) => string): string {
  return bound === undefined ? "" : text(bound);
}
