import { resolve } from "node:path";
import type { PlatformConfig } from "./config.ts";
import { quoted, tourText } from "./tour.ts";
import type { Platform } from "./wire.ts";

/** What a person types: for this program's start, and for the operator's command line beside it. */
export interface Commands {
  start: string;
  cli: string;
}

/** One line for each step of the start, and of its end. */
export function printProgress(step: string): void {
  process.stdout.write(`${step} ...\n`);
}

/** Addresses, what to try next, then the tour. */
export function printReady(
  platform: Platform,
  config: PlatformConfig,
  commands: Commands,
  duration_ms: number,
): void {
  const { tour } = platform;
  const lines = [
    `\nOstiary is ready after ${(duration_ms / 1000).toFixed(1)} s.\n`,
    ...placesOf(platform, config).map(([name, where]) => `  ${name.padEnd(NAME_WIDTH)} ${where}`),
    "",
    ...nextSteps(platform, commands),
    "",
    `Ctrl-C stops it; the data stays. ${commands.start} --fresh begins anew.`,
    "",
  ];
  if (tour) {
    lines.push(
      "The tour: paste what follows into another terminal, in any directory. It takes curl and a POSIX shell,",
      "such as bash or zsh; in fish, start bash first.",
      "",
      tourText(tour),
    );
  }
  process.stdout.write(`${lines.join("\n")}\n`);
}

/** The last words: where everything is that the next start goes on with. */
export function printGoodbye(config: PlatformConfig, commands: Commands): Promise<void> {
  const database = config.DATABASE_URL === undefined ? "" : "in the database of DATABASE_URL and ";
  const text = `Goodbye. The data is ${database}in ${resolve(config.DATA_DIR)}: ${commands.start} goes on with it.\n`;
  // the process ends next: what is not written by then is lost
  return new Promise((written) => process.stdout.write(text, () => written()));
}

const NAME_WIDTH = 18;

type Place = readonly [name: string, where: string];

/** The four parts always, pages and what the demo adds only where they are served. */
function placesOf({ addresses, tour }: Platform, config: PlatformConfig): Place[] {
  const { gateway_url, registry_url, identity_url, audit_url } = addresses;
  const pages = config.SWAGGER_ENABLED;
  const page = pages ? "/swagger" : "";
  const places: (Place | false)[] = [
    ["gateway", gateway_url],
    pages && ["what it serves", `${registry_url}/edge (asks for the admin token)`],
    config.CONSOLE_ENABLED && ["console", `${registry_url}/console (asks for the admin token)`],
    ["route registry", `${registry_url}${page}`],
    ["identity", `${identity_url}${page}`],
    ["audit", `${audit_url}${page}`],
    tour !== null && ["identity provider", `${tour.identity_provider_url}/token?subject=NAME (a toy)`],
    tour !== null && ["sample service", tour.sample_service_url],
    ["data and logs", resolve(config.DATA_DIR)],
  ];
  return places.filter((place) => place !== false);
}

function nextSteps({ addresses, admin_token_file, tour }: Platform, { cli }: Commands): string[] {
  const steps = [
    ...(tour === null
      ? []
      : [["See the whole way of a request: paste the tour below into another terminal."]]),
    [
      "Ask the registry what is published, from another terminal:",
      `export REGISTRY_URL=${addresses.registry_url} ADMIN_TOKEN="$(cat ${quoted(admin_token_file)})"`,
      `${cli} services`,
    ],
    [
      `Publish your own service: write its routes to a file as seeds/demo.yaml has them, then ${cli} apply FILE.`,
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
