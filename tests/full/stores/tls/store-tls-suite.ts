/**
 * The tests of TLS that every store must pass: which certificates are trusted, and the messages for
 * operators.
 */
import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Peer, peerTls } from "@ostiary/lib/runtime/config";
import { StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import {
  type CertificateAuthority,
  type CertificatePair,
  Certificates,
} from "../../../support/http/certificates.ts";
import { rejection } from "../../../support/rejection.ts";

interface Material {
  ca: CertificateAuthority;
  /** A second CA, which a test can add to the trusted ones. */
  next: CertificateAuthority;
  good: CertificatePair;
  elsewhere: CertificatePair;
  expired: CertificatePair;
  renewed: CertificatePair;
  client: CertificatePair;
  /** A client certificate of the second CA, which servers do not trust. */
  untrusted: CertificatePair;
}

/** Creates two CAs and their certificates for all tests of a file. */
export class TlsMaterial {
  readonly #certificates = new Certificates();
  #made: Material | undefined;

  constructor() {
    beforeAll(() => {
      this.#made = this.#make();
    });
  }

  get made(): Material {
    if (this.#made === undefined) throw new Error("The certificates exist only while tests run.");
    return this.#made;
  }

  get folder(): string {
    return this.#certificates.folder;
  }

  /** Creates a CA file with the first CA. `trust` adds another CA while the file is in use. */
  growingFile(): { certFile: string; trust(ca: CertificatePair): void } {
    const certFile = join(this.folder, `${crypto.randomUUID()}.pem`);
    const { ca: first } = this.made;
    writeFileSync(certFile, first.cert);
    return { certFile, trust: (ca) => writeFileSync(certFile, `${first.cert}${ca.cert}`) };
  }

  #make(): Material {
    const ca = this.#certificates.authority("ca");
    const next = this.#certificates.authority("next");
    return {
      ca,
      next,
      good: ca.sign("good"),
      elsewhere: ca.sign("elsewhere", { names: "DNS:store.example" }),
      expired: ca.sign("expired", { expired: true }),
      renewed: next.sign("renewed"),
      client: ca.sign("client"),
      untrusted: next.sign("untrusted"),
    };
  }
}

export type ClientFiles = { ca?: { certFile: string }; pair?: CertificatePair };

/** Returns the TLS options of a store with these files. */
export function files(peer: Peer, { ca, pair }: ClientFiles) {
  const config = {
    [`${peer}_CA_FILE`]: ca?.certFile,
    [`${peer}_CERT_FILE`]: pair?.certFile,
    [`${peer}_KEY_FILE`]: pair?.keyFile,
  };
  return peerTls(config, peer);
}

/** Expects that `work` fails because its store is unavailable, and returns the message for operators. */
export async function message(work: Promise<unknown>): Promise<string> {
  const error = await rejection(work);
  expect(error).toBeInstanceOf(StoreUnavailable);
  return error instanceof Error ? error.message : "";
}

/** One kind of store with a TLS server, for the tests of {@link behavesByTls}. */
interface StoreBed {
  peer: Peer;
  /** Returns the server's name in messages. */
  server(): string;
  /** Lets the server present this certificate. */
  show(pair: CertificatePair): Promise<void>;
  /** Opens the store, makes one call and closes it. Rejects with the error that a start would report. */
  use(files: ClientFiles): Promise<void>;
  /** Does the same as `use`, with a server that requires a client certificate. */
  useAsking(files: ClientFiles): Promise<void>;
}

/** Defines the tests of TLS for a store. */
export function behavesByTls(material: TlsMaterial, bed: StoreBed): void {
  const url = `${bed.peer}_URL`;
  const untrusted = () =>
    `The TLS certificate of ${bed.server()} (${url}) is not signed by a trusted CA: set ${bed.peer}_CA_FILE to the file of its CA.`;

  // OP-21
  test("a server certificate of the CA in the CA file is accepted", async () => {
    await bed.show(material.made.good);
    await bed.use({ ca: material.made.ca, pair: material.made.client });
  });

  // OP-21
  test("a server certificate of another CA is refused, with and without a CA file", async () => {
    await bed.show(material.made.good);
    expect(await message(bed.use({ ca: material.made.next, pair: material.made.client }))).toBe(untrusted());
    expect(await message(bed.use({}))).toBe(untrusted());
  });

  // OP-21
  test("a server certificate for another host is refused", async () => {
    await bed.show(material.made.elsewhere);
    expect(await message(bed.use({ ca: material.made.ca, pair: material.made.client }))).toBe(
      `The TLS certificate of ${bed.server()} does not name the host in ${url}: correct the host, or issue a certificate for that host.`,
    );
  });

  // OP-21
  test("a server that requires client certificates accepts only a trusted one", async () => {
    await bed.show(material.made.good);
    const files = `${bed.peer}_CERT_FILE and ${bed.peer}_KEY_FILE`;
    expect(await message(bed.useAsking({ ca: material.made.ca }))).toContain(files);
    expect(await message(bed.useAsking({ ca: material.made.ca, pair: material.made.untrusted }))).toBe(
      `The client's TLS certificate was refused by ${bed.server()} (${url}): set ${files} to a certificate that the server trusts.`,
    );
    await bed.useAsking({ ca: material.made.ca, pair: material.made.client });
  });
}
