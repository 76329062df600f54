import { randomBytes } from "node:crypto";
import { startIdentityProvider } from "@ostiary/demo";
import { formatCredential } from "@ostiary/lib/domain/credentials";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { LABEL } from "./catalog.ts";

export const caller = {
  key: formatCredential("bench", "k", randomBytes(32)),
  organization_id: "01j9zx4k7m2p5q8r1s3t6v9w0y",
  member_id: "01j9zx5b8c1d4e7f0g3h6j9k2m",
};

/**
 * Keys that subjects must refuse: `unlabelled` belongs to a member without the label, `unknown` to nobody.
 */
export const strangers = {
  unlabelled: formatCredential("bench", "k", randomBytes(32)),
  unknown: formatCredential("bench", "k", randomBytes(32)),
};

const { organization_id, member_id } = caller;
const member = { valid: true, realm: "organization", organization_id, member_id };
const results = new Map<string, object>([
  [caller.key, { ...member, labels: [LABEL] }],
  [strangers.unlabelled, { ...member, labels: [] }],
]);

/** Responds like identity when no admission changes. */
async function noChange({ searchParams }: URL): Promise<Response> {
  await Bun.sleep(Number(searchParams.get("wait_ms") ?? 0));
  return Response.json({ changes: [], next: "0" });
}

const validateRequest = Type.Object({ credential: Type.String() });

export interface Identity {
  readonly validateUrl: string;
  readonly issuer: string;
  readonly jwks_uri: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a fake identity service, which validates the keys of {@link caller} and {@link strangers}. Gateways
 * cache its responses, so each gateway calls it once for each key.
 */
export async function startIdentity(): Promise<Identity> {
  const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (request.method === "GET") return noChange(new URL(request.url));
      const { credential } = Value.Parse(validateRequest, await request.json());
      return Response.json(results.get(credential) ?? { valid: false });
    },
  });
  return {
    validateUrl: `http://127.0.0.1:${server.port}/internal/credentials/validate`,
    issuer: provider.issuer,
    jwks_uri: provider.jwks_uri,
    async [Symbol.asyncDispose]() {
      await Promise.all([server.stop(true), provider.stop()]);
    },
  };
}
