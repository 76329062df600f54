import { statSync } from "node:fs";
import type { TOptional, TString } from "@sinclair/typebox";
import { type Clock, systemClock } from "../../async/index.ts";
import { databaseUsesTls } from "./addresses.ts";
import { loneFileProblems, readCertificates, readKeyPair } from "./key-pair.ts";
import { ConfigError, type ConfigProblem } from "./load.ts";
import { optionalText } from "./variables.ts";

/** Whom a service calls by TLS: the variable of the address, when it asks for TLS, and how one writes that. */
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
} as const;

export type Peer = keyof typeof PEERS;
const peers: readonly Peer[] = [
  "DATABASE",
  "COUNTER_STORE",
  "ROUTE_STORE",
  "CREDENTIAL_VALIDATE",
  "AUDIT",
  "AUTH_JWKS",
];

function isHttps(url: string): boolean {
  return url.startsWith("https://");
}

type FileVariables<Name extends Peer> = Record<`${Name}_${"CA" | "CERT" | "KEY"}_FILE`, TOptional<TString>>;

/**
 * The variables of TLS to one peer: `…_CA_FILE` in place of the public CAs, `…_CERT_FILE` and `…_KEY_FILE` where the
 * peer wants to know who calls. Whether it is called by TLS its URL says; its certificate is checked always.
 */
export function tlsVariables<Name extends Peer>(peer: Name): FileVariables<Name> {
  const { url } = PEERS[peer];
  // biome-ignore lint/plugin: the three names are those of the type, which no computed name is inferred as
  return {
    [`${peer}_CA_FILE`]: optionalText("must be a file of certificates in PEM form that this user may read", {
      check: holdsCertificates,
      description: `The CAs that the server of ${url} is trusted by, in place of the public ones. Read again when it changes.`,
    }),
    [`${peer}_CERT_FILE`]: optionalText("must be the path of a certificate in PEM form", {
      description: `The certificate that the server of ${url} is shown, its chain after it. Read again when it changes.`,
    }),
    [`${peer}_KEY_FILE`]: optionalText("must be the path of a private key in PEM form", {
      description: `The key of ${peer}_CERT_FILE, without a passphrase.`,
    }),
  } as FileVariables<Name>;
}

function holdsCertificates(path: string): boolean {
  return readCertificates(path) !== null;
}

type Variables = Readonly<Record<string, unknown>>;

interface PeerFiles {
  ca?: string;
  cert?: string;
  key?: string;
}

function filesOf(config: Variables, peer: Peer): PeerFiles {
  const file = (part: string) => {
    const path = config[`${peer}_${part}_FILE`];
    return typeof path === "string" ? path : undefined;
  };
  return { ca: file("CA"), cert: file("CERT"), key: file("KEY") };
}

/** A check for `loadConfig`: pairs are whole and belong together, and files are given only for what is called by TLS. */
export function checkPeerTls(config: Variables): ConfigProblem[] {
  return peers.flatMap((peer) => peerProblems(config, peer));
}

function peerProblems(config: Variables, peer: Peer): ConfigProblem[] {
  const files = filesOf(config, peer);
  const { url, isTls, form } = PEERS[peer];
  const address = config[url];
  const given = Object.entries(files).filter(([, path]) => path !== undefined);
  if (typeof address === "string" && !isTls(address)) {
    return given.map(([part]) => ({
      variable: `${peer}_${part.toUpperCase()}_FILE`,
      message: `is for TLS, which ${url} does not ask for: write it with ${form}, or leave the file out.`,
    }));
  }
  const lone = loneFileProblems(
    { cert: `${peer}_CERT_FILE`, key: `${peer}_KEY_FILE` },
    { cert: files.cert, key: files.key },
  );
  if (lone.length > 0) return lone;
  const read = pairOf(files, peer);
  return read !== null && "message" in read ? [read] : [];
}

function pairOf({ cert, key }: PeerFiles, peer: Peer) {
  if (cert === undefined || key === undefined) return null;
  return readKeyPair(
    { variable: `${peer}_CERT_FILE`, path: cert },
    { variable: `${peer}_KEY_FILE`, path: key },
  );
}

/** What a TLS client is told: names that node, Bun and the drivers share. */
export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The files of one peer, as they change. */
export interface PeerTls {
  /** The same object until a file changes. */
  current(): TlsOptions;
}

/** How often files are looked at, while connections are made. */
const LOOK_MS = 2_000;

/** The TLS files of a peer; undefined where its configuration names none. */
export function peerTls(config: Variables, peer: Peer, clock: Clock = systemClock): PeerTls | undefined {
  const files = filesOf(config, peer);
  const paths = Object.values(files).filter((path) => path !== undefined);
  if (paths.length === 0) return undefined;
  let stamp = stampOf(paths);
  let options = readOptions(files, peer);
  if ("message" in options) throw new ConfigError([options]);
  let looked_ms = clock.elapsed_ms();
  let last: TlsOptions = options;
  return {
    current() {
      if (clock.elapsed_ms() - looked_ms < LOOK_MS) return last;
      looked_ms = clock.elapsed_ms();
      const seen = stampOf(paths);
      if (seen === stamp) return last;
      options = readOptions(files, peer);
      // half written, or not of one pair yet: looked at again
      if ("message" in options) return last;
      stamp = seen;
      last = options;
      return last;
    },
  };
}

/** For drivers that copy their options whenever they connect: what the files hold then. */
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

function readOptions(files: PeerFiles, peer: Peer): TlsOptions | ConfigProblem {
  const ca = files.ca === undefined ? undefined : readCertificates(files.ca);
  if (ca === null) return { variable: `${peer}_CA_FILE`, message: "holds no certificates in PEM form." };
  const pair = pairOf(files, peer);
  if (pair !== null && "message" in pair) return pair;
  return { ...(ca !== undefined && { ca }), ...(pair !== null && { cert: pair.cert, key: pair.key }) };
}

/** Changes when a file does, also where a link is pointed at another one. */
function stampOf(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found === undefined ? "" : `${found.ino} ${found.mtimeMs} ${found.size}`;
    })
    .join();
}
