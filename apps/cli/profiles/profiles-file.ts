import { readFile, stat } from "node:fs/promises";
import { fieldErrors, systemErrorCode } from "@ostiary/lib/domain/errors";
import { mapOf } from "@ostiary/lib/domain/schemas";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { load, YAMLException } from "js-yaml";
import { UsageError } from "../exit-codes.ts";

const NAME = "^[A-Za-z0-9._-]{1,64}$";
const NAME_RULE = "must be 1 to 64 letters, digits, `.`, `_` and `-`";

/** One registry of the profiles file, and the source of its token. */
export const Profile = Type.Object(
  {
    url: Type.String({ minLength: 1, rule: "must be the address of a registry's admin API" }),
    token: Type.Optional(Type.String({ minLength: 1, rule: "must be the admin token" })),
    token_env: Type.Optional(
      Type.String({ minLength: 1, rule: "must be the name of a variable that holds the token" }),
    ),
    token_command: Type.Optional(
      Type.String({ minLength: 1, rule: "must be a command that writes the token" }),
    ),
  },
  {
    additionalProperties: false,
    rule: "must be a map with url, and one of token, token_env and token_command",
  },
);
export type Profile = Static<typeof Profile>;

const ProfilesFile = Type.Object(
  {
    default: Type.Optional(Type.String({ pattern: NAME, rule: NAME_RULE })),
    registries: mapOf(Type.String({ pattern: NAME, rule: NAME_RULE }), Profile, {
      rule: "must be a map from names to registries",
    }),
  },
  { additionalProperties: false, rule: "must be a map with the key registries" },
);
export type ProfilesFile = Static<typeof ProfilesFile>;

const OTHERS = 0o077;

/** Returns the registries of the profiles file, or null when the file does not exist. */
export async function readProfiles(path: string): Promise<ProfilesFile | null> {
  const text = await readText(path);
  if (text === null) return null;
  const value = parse(path, text);
  const wrong = fieldErrors(ProfilesFile, value);
  if (Value.Check(ProfilesFile, value)) {
    for (const [name, { token, token_env, token_command }] of Object.entries(value.registries)) {
      const given = [token, token_env, token_command].filter((source) => source !== undefined);
      if (given.length !== 1) {
        const message = "Give one of token, token_env and token_command.";
        wrong.push({ path: `registries.${name}`, message });
      }
    }
    if (wrong.length === 0) return value;
  }
  const lines = wrong.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  throw new UsageError([`${path} cannot be used:`, ...lines.map((line) => `  ${line}`)].join("\n"));
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const code = systemErrorCode(error) ?? "unknown reason";
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new UsageError(`${path} cannot be read (${code}).`);
  }
}

/** Parses the file. The error quotes no text of the file, because the text may contain a token. */
function parse(path: string, text: string): unknown {
  try {
    return load(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = error.mark === undefined ? "" : ` at line ${error.mark.line + 1}`;
    throw new UsageError(`${path} is not valid YAML${line}.`);
  }
}

/** Returns a warning if the file contains a token and other users can read the file, otherwise null. */
export async function exposureText(path: string, { registries }: ProfilesFile): Promise<string | null> {
  const holdsToken = Object.values(registries).some(({ token }) => token !== undefined);
  if (!holdsToken) return null;
  const { mode } = await stat(path);
  return (mode & OTHERS) === 0
    ? null
    : `Warning: other users may read ${path}, which contains a token: run chmod 600 ${path}`;
}
