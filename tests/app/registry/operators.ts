import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "@ostiary/lib/runtime/config/operators-file";
import {
  type ProviderStandIn,
  type SigningKey,
  sign,
  signingKey,
  startProvider,
} from "../../support/pages/provider-stand-in.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type Entry, tokenOf } from "./bed.ts";

export const ISSUER = "https://login.example.com";
export const AUDIENCE = "ostiary";

/** Returns the entry of an operator whose token is `token-of-<name>`. `fields` are added to the entry. */
export function entry(name: string, role: string, fields: Record<string, unknown> = {}): Entry {
  return { name, role, token_sha256: [sha256Of(tokenOf(name))], ...fields };
}

/**
 * Returns the entry of an operator without a token. Tokens of the identity provider stand for the operator if
 * their claim `team` is the operator's name.
 */
export function claiming(name: string, role: string, fields: Record<string, unknown> = {}): Entry {
  return { name, role, claims: { team: name }, ...fields };
}

/** An identity provider for operators, with its signing key. */
export class OperatorProvider implements AsyncDisposable {
  readonly key: SigningKey;
  readonly standIn: ProviderStandIn;

  private constructor(key: SigningKey) {
    this.key = key;
    this.standIn = startProvider(key);
  }

  static async start(): Promise<OperatorProvider> {
    return new OperatorProvider(await signingKey("ES256", "main"));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.standIn.stop();
  }

  /** The environment variables of a registry that uses this identity provider. */
  get env(): Record<string, string> {
    return {
      OPERATOR_ISSUER: ISSUER,
      OPERATOR_JWKS_URI: this.standIn.uri,
      OPERATOR_AUDIENCE: `other,${AUDIENCE}`,
    };
  }

  /**
   * Signs a token that expires in an hour. `claims` adds or replaces claims of the token. The value undefined
   * removes a claim.
   */
  token(claims: Record<string, unknown>, { key = this.key, header = {} } = {}): Promise<string> {
    return sign(
      key,
      { iss: ISSUER, aud: AUDIENCE, sub: "pipeline-7", exp: inSeconds(3_600), ...claims },
      header,
    );
  }
}

/** Returns the time `seconds` from now, in seconds since the epoch. */
export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1_000) + seconds;
}

/** An operators file in a new temporary folder. */
export class OperatorsFile {
  readonly path = join(temporaryFolder("operators"), "operators.yaml");

  async write(...operators: Entry[]): Promise<void> {
    await this.writeText(JSON.stringify({ operators }));
  }

  async writeText(text: string): Promise<void> {
    await writeFile(this.path, text);
  }
}
