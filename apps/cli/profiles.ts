import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { readBounded } from "@ostiary/lib/async";
import { mapOf } from "@ostiary/lib/domain/schemas";
import { ConfigError, readSecretFile } from "@ostiary/lib/runtime/config";
import { parseYamlFile } from "@ostiary/lib/runtime/config/yaml-file";
import { type Static, Type } from "@sinclair/typebox";
import { readFileBytes } from "./commands/read-document.ts";
import { UsageError } from "./exit-codes.ts";
import type { RegistryAddress } from "./registry-client.ts";

const Name = Type.String({
  pattern: "^[A-Za-z0-9._-]{1,64}$",
  rule: "must be 1 to 64 letters, digits, `.`, `_` and `-`",
});

/** One registry of the profiles file. The file contains no tokens, so that other users may read it. */
const Profile = Type.Object(
  {
    url: Type.String({ minLength: 1, rule: "must be the address of a registry's admin API" }),
    token_command: Type.String({ minLength: 1, rule: "must be a command that writes the admin token" }),
  },
  { additionalProperties: false, rule: "must be a map with url and token_command" },
);
type Profile = Static<typeof Profile>;

const ProfilesFile = Type.Object(
  {
    default: Type.Optional(Name),
    registries: mapOf(Name, Profile, { rule: "must be a map from names to registries" }),
  },
  { additionalProperties: false, rule: "must be a map with the key registries" },
);
type ProfilesFile = Static<typeof ProfilesFile>;

/** The maximum size of the profiles file. */
const FILE_BYTES_MAX = 1_048_576;
/** The maximum size of a token, as of a file with a secret. */
const TOKEN_BYTES_MAX = 65_536;

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
): Promise<RegistryAddress> {
  const given = ["REGISTRY_URL", "ADMIN_TOKEN", "ADMIN_TOKEN_FILE"].some((name) => variable(name)?.trim());
  if (named === undefined && given) return registryOf(variable);
  const path = profilesPath(variable);
  const file = await readProfiles(path);
  const name = named ?? file?.default;
  if (name === undefined) return registryOf(variable);
  const { url, token_command } = profileOf(name, path, file);
  return { REGISTRY_URL: url, ADMIN_TOKEN: await outputOf(name, token_command), profile: name };
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

/** Returns the names of the person's profiles, for `--registry` and its completion. */
export async function registryNames(variable: ReadVariable): Promise<string[]> {
  return Object.keys((await readProfiles(profilesPath(variable)))?.registries ?? {});
}

function profilesPath(variable: ReadVariable): string {
  const given = variable("XDG_CONFIG_HOME") ?? "";
  // The XDG Base Directory Specification says to ignore a relative path.
  const home = isAbsolute(given) ? given : join(variable("HOME") || homedir(), ".config");
  return join(home, "ostiary", "config.yaml");
}

/** Returns the registries of the profiles file, or null when the file does not exist. */
async function readProfiles(path: string): Promise<ProfilesFile | null> {
  if (!existsSync(path)) return null;
  const found = statSync(path);
  // Reading a pipe or a device could wait or go on without end.
  if (!found.isFile() && !found.isDirectory()) throw new UsageError(`${path} must be a plain file.`);
  if (found.size > FILE_BYTES_MAX)
    throw new UsageError(
      `${path} has more than ${FILE_BYTES_MAX / 1_048_576} MiB, so it is not a profiles file.`,
    );
  const text = new TextDecoder().decode(await readFileBytes(path));
  try {
    return parseYamlFile("", ProfilesFile, text, (_, shape) => shape);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(error.problems.map(({ message }) => `${path} ${message}`).join("\n"));
  }
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

/** Runs a command and returns its standard output. Its standard error goes to the terminal. */
async function outputOf(name: string, command: string): Promise<string> {
  const refusal = (what: string) => new UsageError(`The token_command of the registry ${name} ${what}.`);
  const child = spawnShell(command);
  if (child === null) throw refusal("cannot be started: it must be a command for sh");
  const tooLong = () =>
    refusal(`writes more than ${TOKEN_BYTES_MAX / 1_024} KiB, which is too long for a token`);
  // An error closes the pipe, which ends a command that writes without end.
  const output = (await readBounded(child.stdout, TOKEN_BYTES_MAX, tooLong)).toString("utf8");
  const exitCode = await child.exited;
  if (exitCode === 0 && output.trim() !== "") return output;
  throw refusal(exitCode === 0 ? "wrote no token to standard output" : `failed with exit code ${exitCode}`);
}

/** Returns null for a command that no process can get, such as one with a null character or of many MiB. */
function spawnShell(command: string) {
  try {
    return Bun.spawn(["sh", "-c", command], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  } catch {
    return null;
  }
}
