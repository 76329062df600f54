import { type CliOptions, runCli } from "@ostiary/cli/run";
import { type Command, InvalidArgumentError } from "commander";
import type { Commands } from "./screen.ts";

/** What runs until a signal ends it. */
type Program = () => Promise<void>;

export interface OstiaryOptions extends Pick<CliOptions, "name" | "parameters"> {
  /** What a person types for the operator's commands. */
  cli: string;
  env: NodeJS.ProcessEnv;
}

/**
 * All of Ostiary by one command line: the quick start, each service, and the operator's commands. What a command
 * needs is loaded when it is called, so `apply` does not wait for the gateway's code.
 */
export async function runOstiary({ env, cli, ...called }: OstiaryOptions): Promise<void> {
  let chosen: Program | undefined;
  const choose = (program: Program) => {
    chosen = program;
  };
  await runCli({
    ...called,
    env,
    addMore: (program) => addPrograms(program, { env, start: `${called.name} start`, cli, choose }),
  });
  await chosen?.();
}

interface Called extends Commands {
  env: NodeJS.ProcessEnv;
  choose(program: Program): void;
}

function addPrograms(program: Command, { env, choose, ...commands }: Called): void {
  program
    .description("Runs Ostiary or a service of it, publishes routes, and shows what is published.")
    .addHelpText("after", PROGRAMS_HELP);
  const add = (name: string, description: string) =>
    (program.commands.find((each) => each.name() === name) ?? program.command(name))
      .description(description)
      .helpGroup("Programs, which run until a signal ends them:")
      .configureHelp({ showGlobalOptions: false });
  add("start", "Start everything in one process, on embedded stores, with a tour")
    .option("--fresh", "delete the data of earlier starts first")
    .addHelpText("after", START_HELP)
    .action(({ fresh }: { fresh?: true }) =>
      choose(async () => (await import("./run.ts")).runPlatform({ env, fresh: fresh === true, commands })),
    );
  add("gateway", "Run the gateway").action(() =>
    choose(async () => (await import("@ostiary/gateway/run")).runGateway(env)),
  );
  add("registry", "Run the route registry").action(() =>
    choose(async () => (await import("@ostiary/registry/run")).runRegistry(env)),
  );
  add("identity", "Run identity").action(() =>
    choose(async () => (await import("@ostiary/identity/run")).runIdentity(env)),
  );
  const audit = add("audit", "Run audit; `audit verify` checks exports of its log").action(() =>
    choose(async () => (await import("@ostiary/audit/run")).runAudit(env)),
  );
  audit
    .command("migrate")
    .description("Make or change the schema of the log, as the user of DATABASE_URL, who owns it, and end")
    .option(
      "--role <name>",
      "a role that may do the service's work, and no more; made if there is none",
      asRole,
    )
    .action(({ role }: { role?: string }) =>
      choose(async () => (await import("@ostiary/audit/migrate")).runMigration(env, role)),
    );
  add("demo", "Run the toy identity provider and the sample service of the tour").action(() =>
    choose(async () => (await import("@ostiary/demo/run")).runDemo(env)),
  );
}

/** A name of PostgreSQL, which cuts off what is longer. */
const ROLE_BYTES_MAX = 63;

function asRole(text: string): string {
  if (text !== "" && Buffer.byteLength(text) <= ROLE_BYTES_MAX) return text;
  throw new InvalidArgumentError(`It is a name of 1 to ${ROLE_BYTES_MAX} bytes.`);
}

const PROGRAMS_HELP = `  $ ostiary start
  $ REGISTRY_URL=https://registry.example.com:5002 ostiary services

A program reads its settings from the environment. It ends with 0 after a signal, with 78 when a setting is wrong, and
with 1 when something that it needs does not answer.`;

const START_HELP = `
Starts the gateway, the registry, identity and audit, with a toy identity provider and a sample service. It prints
where they are, and a tour.

Environment, among the variables that the READMEs of apps/ list:
  DATA_DIR      where the data lives (default .ostiary)
  HOST          the address to listen on (default 127.0.0.1)
  GATEWAY_PORT, REGISTRY_PORT, IDENTITY_PORT, AUDIT_PORT, DEMO_PORT, DEMO_IDENTITY_PROVIDER_PORT
                the public ports; the first four have a *_INTERNAL_PORT each
  DATABASE_URL, ROUTE_STORE_URL, COUNTER_STORE_URL
                PostgreSQL, etcd and Redis in place of the embedded stores
  LOG_FILE=-    shows the log here, for people on a terminal (LOG_FORMAT=json does not); NO_COLOR without colors
  DEMO=false    leaves out the toy provider, the sample service and the tour; AUTH_ISSUER and AUTH_JWKS_URI
                then name your own provider

Exit codes: 0 stopped, 1 failed, 2 wrong usage, 78 a variable, port or directory is wrong`;
