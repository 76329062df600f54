import { type CliOptions, runCli } from "@ostiary/cli/run";
import { isOwner, OWNER_RULE } from "@ostiary/lib/domain/proof/owner";
import { isLogOrigin } from "@ostiary/lib/domain/tlog";
import { type Program as Described, programHelp } from "@ostiary/lib/runtime/config";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Commands } from "./screen.ts";

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
export async function runOstiary(options: OstiaryOptions): Promise<void> {
  const { addMore, chosen } = await programs(options);
  await runCli({ ...options, addMore });
  await chosen()?.();
}

/** Returns the commands of all programs, and a function that returns the program that the command line chose. */
export async function programs({ env, cli, name, parameters }: OstiaryOptions) {
  let chosen: Program | undefined;
  const choose = (program: Program) => {
    chosen = program;
  };
  const help = await helpFor(parameters);
  const addMore = (program: Command) =>
    addPrograms(program, { env, start: `${name} start`, cli, choose, help });
  return { addMore, chosen: () => chosen };
}

interface Called extends Commands {
  env: NodeJS.ProcessEnv;
  /** The help text of the program that the command line names, or an empty text if it asks for no help. */
  help: string;
  choose(program: Program): void;
}

interface Service {
  name: string;
  summary: string;
  describe(): Promise<Described>;
  run(env: NodeJS.ProcessEnv): Promise<void>;
}

/** The services in the order of the help text. Each function loads the code that it needs. */
const SERVICES: Service[] = [
  {
    name: "gateway",
    summary: "Run the gateway",
    describe: async () => (await import("@ostiary/gateway/config")).gatewayProgram,
    run: async (env) => (await import("@ostiary/gateway/run")).runGateway(env),
  },
  {
    name: "registry",
    summary: "Run the route registry",
    describe: async () => (await import("@ostiary/registry/config")).registryProgram,
    run: async (env) => (await import("@ostiary/registry/run")).runRegistry(env),
  },
  {
    name: "identity",
    summary: "Run identity",
    describe: async () => (await import("@ostiary/identity/config")).identityProgram,
    run: async (env) => (await import("@ostiary/identity/run")).runIdentity(env),
  },
  {
    name: "audit",
    summary: "Run audit; `audit verify` checks exports of its log",
    describe: async () => (await import("@ostiary/audit/config")).auditProgram,
    run: async (env) => (await import("@ostiary/audit/run")).runAudit(env),
  },
  {
    name: "portal",
    summary: "Run the customers' portal",
    describe: async () => (await import("@ostiary/portal/config")).portalProgram,
    run: async (env) => (await import("@ostiary/portal/run")).runPortal(env),
  },
  {
    name: "demo",
    summary: "Run the toy identity provider and the sample service of the tour",
    describe: async () => (await import("@ostiary/demo/config")).demoProgram,
    run: async (env) => (await import("@ostiary/demo/run")).runDemo(env),
  },
];

const describePlatform = async () => (await import("./config.ts")).platformProgram;

/** Loads the help of the program that the command line asks about. Commander writes its help synchronously. */
async function helpFor(parameters: readonly string[]): Promise<string> {
  if (!parameters.some((parameter) => ["--help", "-h", "help"].includes(parameter))) return "";
  const programs = [{ name: "start", describe: describePlatform }, ...SERVICES];
  const named = programs.find(({ name }) => parameters.includes(name));
  return named === undefined ? "" : programHelp(await named.describe());
}

function addPrograms(program: Command, { env, choose, help, ...commands }: Called): void {
  program
    .description("Runs Ostiary or a service of it, publishes routes, and shows what is published.")
    .addHelpText("after", PROGRAMS_HELP);
  const commandOf = (name: string) =>
    program.commands.find((each) => each.name() === name) ?? program.command(name);
  const add = (name: string, description: string) =>
    commandOf(name)
      .description(description)
      .helpGroup("Programs, which run until a signal ends them:")
      .configureHelp({ showGlobalOptions: false })
      .addHelpText("after", `\n${help}`);
  add("start", "Start everything in one process, on embedded stores, with a tour")
    .addHelpText("after", START_HELP)
    .action(() => choose(async () => (await import("./run.ts")).runPlatform({ env, commands })));
  for (const { name, summary, run } of SERVICES) add(name, summary).action(() => choose(() => run(env)));
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
    .command("restart")
    .description("Declare, as the log's owner, that rows of the log cannot be restored, and exit")
    .addOption(
      new Option("--owner <owner>", "continue one log, such as organization:01J…, from its sealed end")
        .argParser(asOwner)
        .conflicts("origin"),
    )
    .addOption(
      new Option(
        "--origin <name>",
        "begin a new tree under a new name, after the whole database was set back",
      ).argParser(asOrigin),
    )
    .action(({ owner, origin }: { owner?: string; origin?: string }, command: Command) => {
      const of = owner !== undefined ? { owner } : origin !== undefined ? { origin } : null;
      if (of === null) command.error("error: Give --owner OWNER or --origin NAME.");
      else choose(async () => (await import("@ostiary/audit/restart")).runRestart(env, of));
    });
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

function asOwner(text: string): string {
  if (isOwner(text)) return text;
  throw new InvalidArgumentError(OWNER_RULE);
}

function asOrigin(text: string): string {
  if (isLogOrigin(text)) return text;
  throw new InvalidArgumentError("Give 1 to 255 visible ASCII characters without a plus sign.");
}

const PROGRAMS_HELP = `  $ ostiary start
  $ REGISTRY_URL=https://registry.example.com:5002 ostiary services

A program reads its settings from the environment. It ends with 0 after a signal, with 78 when a setting is wrong, and
with 1 when something that it needs does not respond.`;

const START_HELP = `Exit codes: 0 stopped, 1 failed, 2 wrong usage, 78 a variable, port or directory is wrong`;
