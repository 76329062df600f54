import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { readSecretFile } from "@ostiary/lib/runtime/config";
import { UsageError } from "../exit-codes.ts";
import type { RegistryAddress } from "../registry-client.ts";
import { exposureText, type Profile, type ProfilesFile, readProfiles } from "./profiles-file.ts";

/** Returns the value of an environment variable. */
export type ReadVariable = (name: string) => string | undefined;

/**
 * Returns the registry that `--registry` names, otherwise the registry of the environment variables, otherwise the
 * default registry of the profiles file. The URL and the token always come from the same source, so that no token
 * goes to another registry.
 */
export async function findRegistry(
  named: string | undefined,
  variable: ReadVariable,
  warn: (text: string) => void,
): Promise<RegistryAddress> {
  const given = ["REGISTRY_URL", "ADMIN_TOKEN", "ADMIN_TOKEN_FILE"].some((name) => variable(name)?.trim());
  if (named === undefined && given) return registryOf(variable);
  const path = profilesPath(variable);
  const file = await readProfiles(path);
  const name = named ?? file?.default;
  if (name === undefined) return registryOf(variable);
  const profile = profileOf(name, path, file);
  const exposure = file && (await exposureText(path, file));
  if (exposure) warn(exposure);
  return { REGISTRY_URL: profile.url, ADMIN_TOKEN: await tokenOf(name, profile, variable), profile: name };
}

/** Returns the registry of the environment variables. */
function registryOf(variable: ReadVariable): RegistryAddress {
  const [REGISTRY_URL, ADMIN_TOKEN] = [variable("REGISTRY_URL"), variable("ADMIN_TOKEN")];
  const path = variable("ADMIN_TOKEN_FILE")?.trim();
  if (!path) return { REGISTRY_URL, ADMIN_TOKEN };
  if (ADMIN_TOKEN?.trim())
    throw new UsageError("ADMIN_TOKEN and ADMIN_TOKEN_FILE are both set: set one of them.");
  const read = readSecretFile(path);
  if ("message" in read) throw new UsageError(`ADMIN_TOKEN_FILE ${read.message}`);
  return { REGISTRY_URL, ADMIN_TOKEN: read.value };
}

/** Returns the names that `--registry` accepts. */
export async function registryNames(variable: ReadVariable): Promise<string[]> {
  return Object.keys((await readProfiles(profilesPath(variable)))?.registries ?? {});
}

function profilesPath(variable: ReadVariable): string {
  const given = variable("XDG_CONFIG_HOME") ?? "";
  // The XDG Base Directory Specification says to ignore a relative path.
  const home = isAbsolute(given) ? given : join(variable("HOME") || homedir(), ".config");
  return join(home, "ostiary", "config.yaml");
}

function profileOf(name: string, path: string, file: ProfilesFile | null): Profile {
  if (file === null)
    throw new UsageError(`${path} does not exist: create the file, and define the registry ${name} in it.`);
  const profile = Object.hasOwn(file.registries, name) ? file.registries[name] : undefined;
  if (profile !== undefined) return profile;
  throw new UsageError(
    `${path} defines no registry ${name}. The registries are: ${Object.keys(file.registries).join(", ") || "none"}.`,
  );
}

async function tokenOf(name: string, profile: Profile, variable: ReadVariable): Promise<string> {
  if (profile.token !== undefined) return profile.token;
  if (profile.token_command !== undefined) return outputOf(name, profile.token_command);
  const token = profile.token_env === undefined ? undefined : variable(profile.token_env);
  if (token?.trim()) return token;
  throw new UsageError(`Set ${profile.token_env} to the admin token of the registry ${name}.`);
}

/** Runs a command and returns its standard output. Its standard error goes to the terminal. */
async function outputOf(name: string, command: string): Promise<string> {
  const child = Bun.spawn(["sh", "-c", command], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const [output, exitCode] = await Promise.all([child.stdout.text(), child.exited]);
  if (exitCode === 0 && output.trim() !== "") return output;
  const what = exitCode === 0 ? "wrote no token to standard output" : `failed with exit code ${exitCode}`;
  throw new UsageError(`The token_command of the registry ${name} ${what}.`);
}
