/**
 * Publishes the catalogs of seeds/ that the command line names, each NAME=URL: the service, and where gateways reach
 * it. A service that has a history stays as its operator made it, so a second start changes nothing. compose.yaml runs
 * this program in the image, which has no shell.
 */
import { existsSync } from "node:fs";
import { findRegistry, Refused, RegistryClient, refusalText, UsageError } from "@ostiary/cli";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import { publishFirst } from "../catalogs.ts";

const TIMEOUT_S = 60;
const WAIT_MS = 30_000;

const say = (text: string) => void process.stderr.write(`${text}\n`);

try {
  const address = await findRegistry(undefined, (name) => process.env[name]);
  const registry = new RegistryClient(address, { timeoutS: TIMEOUT_S, program: "ostiary" });
  for (const parameter of process.argv.slice(2)) await publish(registry, parameter);
} catch (error) {
  if (!(error instanceof Refused || error instanceof UsageError)) throw error;
  say(error instanceof Refused ? refusalText(error) : error.message);
  process.exit(error.exitCode);
}

async function publish(registry: RegistryClient, parameter: string): Promise<void> {
  const [, service = "", url = ""] = /^([a-z-]+)=(.+)$/.exec(parameter) ?? [];
  if (service === "") throw new UsageError(`Give NAME=URL instead of ${parameter}.`);
  if (!existsSync(shippedFile(`seeds/${service}.yaml`)))
    throw new UsageError(`seeds/ has no catalog ${service}.`);
  const published = await publishFirst(registry, { service, url }, WAIT_MS);
  say(published === null ? `${service} is published` : `${service} is published already`);
}
