import { parseArgs } from "node:util";
import manifest from "../../package.json" with { type: "json" };

/** What the command line asks for: a start, or a text and the exit code that goes with it. */
export type Invocation = { fresh: boolean } | { text: string; exit_code: number };

const EXIT_USAGE = 2;

const HELP = `Usage: bun start [--fresh]

Starts the gateway, the registry, identity and audit in one process, on embedded stores, with a toy identity
provider and a sample service. It prints where they are, and a tour.

Options:
  --fresh     delete the data of earlier starts first
  --version   write the version
  -h, --help  write this

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

Exit codes: 0 stopped, 1 failed, 2 wrong usage, 78 a variable, port or directory is wrong
`;

/** Reads the command line of `bun start`. */
export function readArguments(parameters: string[]): Invocation {
  const options = {
    fresh: { type: "boolean" },
    version: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const;
  try {
    const { values } = parseArgs({ args: parameters, options });
    if (values.help) return { text: HELP, exit_code: 0 };
    if (values.version) return { text: `${manifest.version}\n`, exit_code: 0 };
    return { fresh: values.fresh === true };
  } catch {
    const given = parameters.map((parameter) => JSON.stringify(parameter)).join(" ");
    return { text: `Not understood: ${given}. See bun start --help.\n`, exit_code: EXIT_USAGE };
  }
}
