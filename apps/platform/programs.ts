import { type CliOptions, runCli } from "@ostiary/cli/run";
import { MONTH_PATTERN } from "@ostiary/lib/domain/proof";
import { type Command, InvalidArgumentError } from "commander";
import type { Commands } from "./screen.ts";

const MONTH = new RegExp(MONTH_PATTERN);

/** A program that runs until a signal ends it. */
type Program = () => Promise<void>;

interface OstiaryOptions extends Pick<CliOptions, "name" | "parameters"> {
  /** The command that starts the operator's command line. */
  cli: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Runs all of Ostiary from one command line: the quick start, each service and the operator's commands. Code
 * is loaded when a command needs it, so `apply` does not wait for the gateway's code.
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

/** The services in the order of the help text. Each `run` loads the code of its service. */
const SERVICES: [name: string, description: string, run: (env: NodeJS.ProcessEnv) => Promise<void>][] = [
  ["gateway", "Run the gateway", async (env) => (await import("@ostiary/gateway/run")).runGateway(env)],
  [
    "registry",
    "Run the route registry",
    async (env) => (await import("@ostiary/registry/run")).runRegistry(env),
  ],
  ["identity", "Run identity", async (env) => (await import("@ostiary/identity/run")).runIdentity(env)],
  [
    "audit",
    "Run audit; `audit verify` checks exports of its log",
    async (env) => (await import("@ostiary/audit/run")).runAudit(env),
  ],
  [
    "portal",
    "Run the customers' portal",
    async (env) => (await import("@ostiary/portal/run")).runPortal(env),
  ],
  [
    "demo",
    "Run the toy identity provider and the sample service of the tour",
    async (env) => (await import("@ostiary/demo/run")).runDemo(env),
  ],
];

function addPrograms(program: Command, { env, choose, ...commands }: Called): void {
  program
    .description("Runs Ostiary or a service of it, publishes routes, and shows what is published.")
    .addHelpText("after", PROGRAMS_HELP);
  const commandOf = (name: string) =>
    program.commands.find((each) => each.name() === name) ?? program.command(name);
  const add = (name: string, description: string) =>
    commandOf(name)
      .description(description)
      .helpGroup("Programs, which run until a signal ends them:")
      .configureHelp({ showGlobalOptions: false });
  add("start", "Start everything in one process, on embedded stores, with a tour")
    .option("--fresh", "delete the data of earlier starts first")
    .addHelpText("after", START_HELP)
    .action(({ fresh }: { fresh?: true }) =>
      choose(async () => (await import("./run.ts")).runPlatform({ env, fresh: fresh === true, commands })),
    );
  for (const [name, description, run] of SERVICES)
    add(name, description).action(() => choose(() => run(env)));
  addJobsOfAudit(commandOf("audit"), env, choose);
}

/** Adds the jobs that the owner of the audit log's schema runs. */
function addJobsOfAudit(audit: Command, env: NodeJS.ProcessEnv, choose: Called["choose"]): void {
  audit
    .command("migrate")
    .description("Create or update the schema of the log as the user of DATABASE_URL, who owns it, and exit")
    .option(
      "--role <name>",
      "a role with exactly the rights of the service; created if it does not exist",
      asRole,
    )
    .action(({ role }: { role?: string }) =>
      choose(async () => (await import("@ostiary/audit/migrate")).runMigration(env, role)),
    );
  audit
    .command("drop")
    .description("Drop old months of the log, as its owner, after declaring them in its proof, and exit")
    .requiredOption("--before <month>", "the first month to keep, such as 2026-01", asMonth)
    .action(({ before }: { before: string }) =>
      choose(async () => (await import("@ostiary/audit/retention")).runDrop(env, before)),
    );
  audit
    .command("retention")
    .description("Drop the months that AUDIT_RETENTION_MONTHS no longer keeps, as the log's owner, and exit")
    .action(() => choose(async () => (await import("@ostiary/audit/retention")).runRetention(env)));
}

/** The limit for a name in PostgreSQL, which truncates longer names. */
const ROLE_BYTES_MAX = 63;

function asRole(text: string): string {
  if (text !== "" && Buffer.byteLength(text) <= ROLE_BYTES_MAX) return text;
  throw new InvalidArgumentError(`Give a name of 1 to ${ROLE_BYTES_MAX} bytes.`);
}

function asMonth(text: string): string {
  if (MONTH.test(text)) return text;
  throw new InvalidArgumentError("Give a month in UTC, such as 2026-01.");
}

const PROGRAMS_HELP = `  $ ostiary start
  $ REGISTRY_URL=https://registry.example.com:5002 ostiary services

A program reads its settings from the environment. It ends with 0 after a signal, with 78 when a setting is wrong, and
with 1 when something that it needs does not answer.`;

const START_HELP = `
Starts the gateway, the registry, identity, audit and the portal, with a toy identity provider and a sample service.
Prints their addresses and a tour.

Environment, among the variables that the READMEs of apps/ list:
  DATA_DIR      where the data lives (default .ostiary)
  HOST          the address to listen on (default 127.0.0.1); DEMO must be set for any address but loopback
  GATEWAY_PORT, REGISTRY_PORT, IDENTITY_PORT, AUDIT_PORT, PORTAL_PORT, DEMO_PORT, DEMO_IDENTITY_PROVIDER_PORT
                the public ports; the first five have a *_INTERNAL_PORT each
  DATABASE_URL, ROUTE_STORE_URL, COUNTER_STORE_URL
                PostgreSQL, etcd and Redis in place of the embedded stores
  LOG_FILE=-    writes the log to standard output; on a terminal it is text for people, unless LOG_FORMAT=json is
                set, and has colors, unless NO_COLOR is set
  DEMO=false    leaves out the toy provider, the sample service and the tour; AUTH_ISSUER and AUTH_JWKS_URI
                then name your own provider
  PORTAL_ENABLED=false
                leaves out the portal; without the demo it also needs PORTAL_CLIENT_ID

Exit codes: 0 stopped, 1 failed, 2 wrong usage, 78 a variable, port or directory is wrong`;
