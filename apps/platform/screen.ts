import { resolve } from "node:path";
import type { PlatformConfig } from "./config.ts";
import { tourText } from "./tour.ts";
import type { Platform } from "./wire.ts";

/** One line for each step of the start. */
export function printProgress(step: string): void {
  process.stdout.write(`${step} ...\n`);
}

/** Addresses, then the tour. */
export function printReady(platform: Platform, config: PlatformConfig, duration_ms: number): void {
  const { tour } = platform;
  const lines = [
    `\nOstiary is ready after ${(duration_ms / 1000).toFixed(1)} s.\n`,
    ...addressLines(platform, config),
    "",
    "Ctrl-C stops it; the data stays. bun start --fresh begins anew.",
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

/** The four parts always, what the demo adds only with it. */
function addressLines({ addresses, tour }: Platform, config: PlatformConfig): string[] {
  const { gateway_url, registry_url, identity_url, audit_url } = addresses;
  const page = config.SWAGGER_ENABLED ? "/swagger" : "";
  return [
    `  gateway            ${gateway_url}`,
    ...(config.SWAGGER_ENABLED
      ? [`  what it serves     ${registry_url}/edge (asks for the admin token)`]
      : []),
    `  route registry     ${registry_url}${page}`,
    `  identity           ${identity_url}${page}`,
    `  audit              ${audit_url}${page}`,
    ...(tour
      ? [
          `  identity provider  ${tour.identity_provider_url}/token?subject=NAME (a toy)`,
          `  sample service     ${tour.sample_service_url}`,
        ]
      : []),
    `  data and logs      ${resolve(config.DATA_DIR)}`,
  ];
}
