import { origin } from "./addresses.ts";
import type { PlatformConfig } from "./config.ts";
import { tourText } from "./tour.ts";
import type { Platform } from "./wire.ts";

/** One line for each step of the start. */
export function printProgress(step: string): void {
  process.stdout.write(`${step} ...\n`);
}

/** Addresses, then the tour. */
export function printReady(platform: Platform, config: PlatformConfig, duration_ms: number): void {
  const { places } = platform;
  const gateway = origin(config, platform.port);
  const lines = [
    `\nOstiary is ready after ${(duration_ms / 1000).toFixed(1)} s.\n`,
    `  gateway            ${gateway}`,
  ];
  if (places) {
    lines.push(
      `  route registry     ${places.registry_url}/swagger`,
      `  identity provider  ${places.identity_provider_url}/token?subject=NAME (a toy)`,
      `  sample service     ${places.sample_service_url}`,
    );
  }
  lines.push(
    `  data and logs      ${config.DATA_DIR}`,
    "",
    "Ctrl-C stops it; the data stays. bun start --fresh begins anew.",
    "",
  );
  if (places)
    lines.push("The tour: paste it into another terminal, in this directory.", "", tourText(places));
  process.stdout.write(`${lines.join("\n")}\n`);
}
