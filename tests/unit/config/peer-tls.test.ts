/** Tests of the TLS files for stores and peers: which files are refused, and when new files take effect. */
import { beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkPeerTls, configProblems, peerTls } from "@ostiary/lib/runtime/config";
import { registryVariables } from "@ostiary/registry/config";
import { type CertificatePair, Certificates } from "../../support/http/certificates.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

const certificates = new Certificates();
let first: CertificatePair;
let second: CertificatePair;
beforeAll(() => {
  first = certificates.make("first");
  second = certificates.make("second");
});

const registry = {
  DATABASE_URL: "postgres://u:p@h/db?sslmode=verify-full",
  ROUTE_STORE_URL: "https://etcd:2379",
  ADMIN_TOKEN: "token",
};

const problemsOf = (variables: Record<string, string>) =>
  configProblems(registryVariables, { ...registry, ...variables }, checkPeerTls).map(
    ({ variable, message }) => `${variable} ${message}`,
  );

// OP-10, OP-23
describe("the check of TLS files", () => {
  const noCertificates = "must be a file of certificates in PEM form that this user may read.";
  test.each<[string, () => Record<string, string>, string[]]>([
    ["a missing CA file", () => ({ DATABASE_CA_FILE: "/nowhere" }), [`DATABASE_CA_FILE ${noCertificates}`]],
    ["a key", () => ({ ROUTE_STORE_CA_FILE: first.keyFile }), [`ROUTE_STORE_CA_FILE ${noCertificates}`]],
    [
      "a bundle with one broken certificate",
      () => {
        const torn = join(certificates.folder, "torn.pem");
        writeFileSync(torn, first.cert + second.cert.replace(/MI/, "!!"));
        return { DATABASE_CA_FILE: torn };
      },
      [`DATABASE_CA_FILE ${noCertificates}`],
    ],
    [
      "a certificate without its key",
      () => ({ DATABASE_CERT_FILE: first.certFile }),
      ["DATABASE_KEY_FILE is required if DATABASE_CERT_FILE is set."],
    ],
    [
      "the key of another certificate",
      () => ({ DATABASE_CERT_FILE: first.certFile, DATABASE_KEY_FILE: second.keyFile }),
      ["DATABASE_KEY_FILE must hold the private key of the certificate in DATABASE_CERT_FILE."],
    ],
    [
      "a key with a passphrase",
      () => {
        const locked = certificates.make("locked", { passphrase: "hunter2" });
        return { DATABASE_CERT_FILE: locked.certFile, DATABASE_KEY_FILE: locked.keyFile };
      },
      ["DATABASE_KEY_FILE must hold a private key in PEM form, without a passphrase."],
    ],
    [
      "files for a store that is used without TLS",
      () => ({ DATABASE_URL: "postgres://u:p@h/db", DATABASE_CA_FILE: first.certFile }),
      [
        "DATABASE_CA_FILE is only for TLS: write DATABASE_URL with ?sslmode=verify-full, or leave this variable out.",
      ],
    ],
  ])("refuses %s", (_, variables, expected) => {
    expect(problemsOf(variables())).toEqual(expected);
  });
});

describe("changed TLS files", () => {
  function installed(): {
    config: Record<string, string>;
    install(pair: CertificatePair): void;
    folder: string;
  } {
    const folder = join(certificates.folder, crypto.randomUUID());
    mkdirSync(folder);
    const config = {
      DATABASE_CERT_FILE: join(folder, "tls.crt"),
      DATABASE_KEY_FILE: join(folder, "tls.key"),
    };
    const install = ({ certFile, keyFile }: CertificatePair) => {
      copyFileSync(certFile, config.DATABASE_CERT_FILE);
      copyFileSync(keyFile, config.DATABASE_KEY_FILE);
    };
    install(first);
    return { config, install, folder };
  }

  // OP-22
  test("take effect after at most 2 s, and until then the TLS options are the same object", () => {
    const clock = manualClock();
    const { config, install } = installed();
    const tls = peerTls(config, "DATABASE", clock);
    const before = tls?.current();
    expect(before?.cert).toBe(first.cert);
    install(second);
    expect(tls?.current()).toBe(before ?? {});
    clock.advance(2_000);
    expect(tls?.current().cert).toBe(second.cert);
    expect(tls?.current()).toBe(tls?.current() ?? {});
  });

  // OP-22
  test("leave the previous files in use while they are incomplete or missing", () => {
    const clock = manualClock();
    const { config, install, folder } = installed();
    const tls = peerTls(config, "DATABASE", clock);
    copyFileSync(second.certFile, config.DATABASE_CERT_FILE ?? "");
    clock.advance(2_000);
    expect(tls?.current().cert).toBe(first.cert);
    rmSync(folder, { recursive: true });
    clock.advance(2_000);
    expect(tls?.current().cert).toBe(first.cert);
    mkdirSync(folder);
    install(second);
    clock.advance(2_000);
    expect(tls?.current().cert).toBe(second.cert);
  });
});
