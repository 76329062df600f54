import { resolve } from "node:path";
import type { PlatformConfig } from "./config.ts";
import { quoted, tourText } from "./tour.ts";
import type { Platform } from "./wire.ts";

/** The commands that a person types: one starts this program, the other the operator's command line. */
export interface Commands {
  start: string;
  cli: string;
}

/** Prints one line for a step of the start or of the shutdown. */
export function printProgress(step: string): void {
  process.stdout.write(`${step} ...\n`);
}

/** Returns the start screen: the addresses, the next steps and the tour. */
export function startScreen(
  platform: Platform,
  config: PlatformConfig,
  commands: Commands,
  duration_ms: number,
): string {
  const { tour } = platform;
  const lines = [
    `\nOstiary is ready after ${(duration_ms / 1000).toFixed(1)} s.\n`,
    ...rowsOf(platform, config).map(([name, where]) => `  ${name.padEnd(NAME_WIDTH)} ${where}`),
    "",
    ...nextSteps(platform, commands),
    "",
    `Ctrl-C stops Ostiary; the data stays. To begin without data, delete the directory of data and logs.`,
    "",
  ];
  if (tour) {
    lines.push(
      "The tour: paste the following commands into another terminal, in any directory. They need curl and a POSIX shell,",
      "such as bash or zsh; in fish, start bash first.",
      "",
      tourText(tour),
    );
  }
  return `${lines.join("\n")}\n`;
}

/** Prints where the data is, at the end of the process. */
export function printGoodbye(config: PlatformConfig, commands: Commands): Promise<void> {
  const database = config.DATABASE_URL === undefined ? "" : "in the database of DATABASE_URL and ";
  const text = `Goodbye. The data is ${database}in ${resolve(config.DATA_DIR)}: ${commands.start} continues with it.\n`;
  // The process exits next, and would lose output that is not yet written.
  return new Promise((written) => process.stdout.write(text, () => written()));
}

const NAME_WIDTH = 18;

type ScreenRow = readonly [name: string, where: string];

/** Returns the URLs of the parts, and of the pages and demo servers that are enabled, each with a name. */
function rowsOf({ addresses, tour, isDescriptionPublic }: Platform, config: PlatformConfig): ScreenRow[] {
  const { gatewayUrl, registryUrl, identityUrl, auditUrl, portalUrl } = addresses;
  const pages = config.SWAGGER_ENABLED;
  const page = pages ? "/swagger" : "";
  const asks = " (asks for the admin token)";
  const rows: (ScreenRow | false)[] = [
    ["gateway", gatewayUrl],
    portalUrl !== null && ["customer portal", portalUrl],
    pages && ["what it serves", `${registryUrl}/edge${isDescriptionPublic ? "" : asks}`],
    config.CONSOLE_ENABLED && ["console", `${registryUrl}/console${asks}`],
    ["route registry", `${registryUrl}${page}`],
    ["identity", `${identityUrl}${page}`],
    ["audit", `${auditUrl}${page}`],
    tour !== null && ["identity provider", `${tour.identityProviderUrl}/token?subject=NAME (a toy)`],
    tour !== null && ["sample service", tour.sampleServiceUrl],
    ["data and logs", resolve(config.DATA_DIR)],
  ];
  return rows.filter((row) => row !== false);
}

function nextSteps({ addresses, adminTokenFile, tour }: Platform, { cli }: Commands): string[] {
  const steps = [
    ...(tour === null ? [] : [["Follow a request all the way: paste the tour below into another terminal."]]),
    [
      "Ask the registry what is published, from another terminal:",
      `export REGISTRY_URL=${addresses.registryUrl} ADMIN_TOKEN="$(cat ${quoted(adminTokenFile)})"`,
      `${cli} services`,
    ],
    [
      `Publish your own service: write its routes to a file like seeds/demo.yaml, then run ${cli} apply FILE.`,
    ],
  ];
  return [
    "What to try next:",
    ...steps.flatMap(([says = "", ...commands], index) => [
      `  ${index + 1}. ${says}`,
      ...commands.map((command) => `       ${command}`),
    ]),
  ];
}
