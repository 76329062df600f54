import type { Database } from "@ostiary/lib/stores/database";
import type { Roles } from "./roles/roles.ts";

/** The time, as the service takes it; tests give their own. */
export type Clock = () => Date;

/** What every part of the directory works with. */
export interface Directory {
  readonly database: Database;
  readonly roles: Roles;
  readonly now: Clock;
  /** A new ULID, above every one this process gave before. */
  readonly newId: () => string;
  readonly secrets: Secrets;
}

/** Makes the secrets that are shown once and stored as a hash. */
export interface Secrets {
  /** An API key, in this deployment's brand. */
  apiKey(): Secret;
  /** A session, in this deployment's brand. */
  session(): Secret;
  /** An invite token; it carries no brand. */
  inviteToken(): Secret;
}

export interface Secret {
  /** The secret itself, for the one who asked for it. */
  readonly plaintext: string;
  /** SHA-256 of the plaintext in hex: what is stored and looked up. */
  readonly hash: string;
  /** The part that may be shown and logged. */
  readonly prefix: string;
}
