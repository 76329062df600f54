import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { TOptional, TString } from "@sinclair/typebox";
import { type Clock, systemClock } from "../../async/index.ts";
import { ConfigError, type ConfigProblem } from "./load.ts";
import { databaseUsesTls } from "./url-checks.ts";
import { optionalText } from "./variables.ts";

/** The peers that a service can call over TLS, each with an example of a TLS URL. */
const PEERS = {
  DATABASE: { url: "DATABASE_URL", isTls: databaseUsesTls, form: "?sslmode=verify-full" },
  COUNTER_STORE: {
    url: "COUNTER_STORE_URL",
    isTls: (url: string) => /^rediss(\+cluster)?:/.test(url),
    form: "rediss:// or rediss+cluster://",
  },
  ROUTE_STORE: { url: "ROUTE_STORE_URL", isTls: isHttps, form: "https://" },
  CREDENTIAL_VALIDATE: { url: "CREDENTIAL_VALIDATE_URL", isTls: isHttps, form: "https://" },
  AUDIT: { url: "AUDIT_URL", isTls: isHttps, form: "https://" },
  AUTH_JWKS: { url: "AUTH_JWKS_URI", isTls: isHttps, form: "https://" },
  OPERATOR_JWKS: { url: "OPERATOR_JWKS_URI", isTls: isHttps, form: "https://" },
} as const;

export type Peer = keyof typeof PEERS;
type PeerUrls = (typeof PEERS)[Peer];

function isHttps(url: string): boolean {
  return url.startsWith("https://");
}

type FileVariables<Name extends Peer> = Record<`${Name}_${"CA" | "CERT" | "KEY"}_FILE`, TOptional<TString>>;

/**
 * Returns the TLS variables of one peer, whose URL decides whether TLS is used. `…_CA_FILE` replaces the public CAs.
 * The certificate of the peer is always verified.
 */
export function tlsVariables<Name extends Peer>(peer: Name): FileVariables<Name> {
  const { url } = PEERS[peer];
  // biome-ignore lint/plugin: the names are those of the type, but TypeScript does not infer computed names
  return {
    [`${peer}_CA_FILE`]: optionalText("must be a file of certificates in PEM form that this user may read", {
      check: holdsCertificates,
      description: `The CA certificates (PEM) to trust for the server of ${url}, instead of the public CAs. The service reads the file again when the file changes.`,
    }),
    [`${peer}_CERT_FILE`]: optionalText("must be the path of a certificate in PEM form", {
      description: `The client certificate for the server of ${url}, followed by its chain. The service reads the file again when the file changes.`,
    }),
    [`${peer}_KEY_FILE`]: optionalText("must be the path of a private key in PEM form", {
      description: `The private key of the certificate in ${peer}_CERT_FILE, without a passphrase.`,
    }),
  } as FileVariables<Name>;
}

const holdsCertificates = (path: string) => readCertificates(path) !== null;

type Variables = Readonly<Record<string, unknown>>;

function filesOf(config: Variables, peer: string): TlsOptions {
  const file = (part: string) => {
    const path = config[`${peer}_${part}_FILE`];
    return typeof path === "string" ? path : undefined;
  };
  return { ca: file("CA"), cert: file("CERT"), key: file("KEY") };
}

/** Checks that each certificate has its key, and that TLS files belong to a URL that uses TLS. */
export function checkPeerTls(config: Variables): ConfigProblem[] {
  return Object.entries(PEERS).flatMap(([peer, urls]) => peerProblems(config, peer, urls));
}

function peerProblems(config: Variables, peer: string, { url, isTls, form }: PeerUrls): ConfigProblem[] {
  const files = filesOf(config, peer);
  const address = config[url];
  if (typeof address === "string" && !isTls(address)) {
    return Object.entries(files)
      .filter(([, path]) => path !== undefined)
      .map(([part]) => ({
        variable: `${peer}_${part.toUpperCase()}_FILE`,
        message: `is only for TLS: write ${url} with ${form}, or leave this variable out.`,
      }));
  }
  if ((files.cert === undefined) !== (files.key === undefined)) {
    const [missing, present] = files.key === undefined ? ["KEY", "CERT"] : ["CERT", "KEY"];
    return [
      { variable: `${peer}_${missing}_FILE`, message: `is required if ${peer}_${present}_FILE is set.` },
    ];
  }
  const pair = readKeyPair(files, peer);
  return "message" in pair ? [pair] : [];
}

/** Reads a certificate and its key, if there are any, or returns the problem. The problem never quotes the key. */
function readKeyPair(files: TlsOptions, peer: string): TlsOptions | ConfigProblem {
  if (files.cert === undefined || files.key === undefined) return {};
  const problem = (part: "CERT" | "KEY", message: string) => ({ variable: `${peer}_${part}_FILE`, message });
  const cert = readText(files.cert);
  if (cert === null) return problem("CERT", UNREADABLE);
  const key = readText(files.key);
  if (key === null) return problem("KEY", UNREADABLE);
  const certificate = attempt(() => new X509Certificate(cert));
  if (certificate === null)
    return problem("CERT", "must hold a certificate in PEM form, with its chain after it.");
  const privateKey = attempt(() => createPrivateKey(key));
  if (privateKey === null)
    return problem("KEY", "must hold a private key in PEM form, without a passphrase.");
  if (!certificate.checkPrivateKey(privateKey))
    return problem("KEY", `must hold the private key of the certificate in ${peer}_CERT_FILE.`);
  return { cert, key };
}

const UNREADABLE = "must be a file that this user may read.";
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Reads one or more certificates in PEM form. Returns null if there is none, or a malformed one. */
function readCertificates(path: string): string | null {
  const text = readText(path);
  const found = text?.match(CERTIFICATE) ?? [];
  const valid = found.length > 0 && found.every((each) => attempt(() => new X509Certificate(each)) !== null);
  return valid ? text : null;
}

function readText(path: string): string | null {
  return attempt(() => readFileSync(path, "utf8"));
}

function attempt<Value>(work: () => Value): Value | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** Certificates and a key, or the paths of their files. The names are those that Node, Bun and the drivers share. */
export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The TLS files of one peer, which are read again when they change. */
export interface PeerTls {
  /** Returns the same object until a file changes. */
  current(): TlsOptions;
}

const CHECK_INTERVAL_MS = 2_000;

/** Returns undefined if the configuration names no TLS files for the peer. */
export function peerTls(config: Variables, peer: Peer, clock: Clock = systemClock): PeerTls | undefined {
  const files = filesOf(config, peer);
  const paths = Object.values(files).filter((path) => path !== undefined);
  if (paths.length === 0) return undefined;
  const stampNow = () => paths.map(fileStamp).join();
  let stamp = stampNow();
  let options = readOptions(files, peer);
  if ("message" in options) throw new ConfigError([options]);
  let checkedMs = clock.elapsedMs();
  let last: TlsOptions = options;
  return {
    current() {
      if (clock.elapsedMs() - checkedMs < CHECK_INTERVAL_MS) return last;
      checkedMs = clock.elapsedMs();
      const seen = stampNow();
      if (seen === stamp) return last;
      options = readOptions(files, peer);
      // The files are half written or do not match yet. The next check reads them again.
      if ("message" in options) return last;
      stamp = seen;
      last = options;
      return last;
    },
  };
}

/** For drivers that copy their options for each connection: each copy contains the files that are current then. */
export function renewingOptions(tls: PeerTls): TlsOptions {
  return {
    get ca() {
      return tls.current().ca;
    },
    get cert() {
      return tls.current().cert;
    },
    get key() {
      return tls.current().key;
    },
  };
}

function readOptions(files: TlsOptions, peer: Peer): TlsOptions | ConfigProblem {
  const ca = files.ca === undefined ? undefined : readCertificates(files.ca);
  if (ca === null)
    return { variable: `${peer}_CA_FILE`, message: "must be a file of certificates in PEM form." };
  const pair = readKeyPair(files, peer);
  return "message" in pair ? pair : { ...(ca !== undefined && { ca }), ...pair };
}

/** Returns a text that changes when a file changes or a symbolic link gets a new target. */
export function fileStamp(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "none" : `${found.ino} ${found.mtimeMs} ${found.size}`;
}
