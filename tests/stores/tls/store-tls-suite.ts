import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Peer, peerTls } from "@ostiary/lib/runtime/config";
import { StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import { type CertificateAuthority, type CertificatePair, Certificates } from "../../support/certificates.ts";
import { rejection } from "../../support/rejection.ts";

/** TLS to the stores: trusted and refused certificates, with the messages for operators. */

export interface Material {
  ca: CertificateAuthority;
  /** A CA that nobody trusts at first. */
  next: CertificateAuthority;
  good: CertificatePair;
  elsewhere: CertificatePair;
  expired: CertificatePair;
  renewed: CertificatePair;
  client: CertificatePair;
  /** The certificate of a client of the other CA. */
  stranger: CertificatePair;
}

/** The certificates of two CAs, for the tests of one file. */
export class TlsMaterial {
  readonly #certificates = new Certificates();
  #made: Material | undefined;

  constructor() {
    beforeAll(() => {
      this.#made = this.#make();
    });
    afterAll(() => this.#certificates.remove());
  }

  get made(): Material {
    if (this.#made === undefined) throw new Error("Certificates are made before the first test.");
    return this.#made;
  }

  get folder(): string {
    return this.#certificates.folder;
  }

  /** Returns a file of CAs that another one can be added to while it is used. */
  growingFile(): { cert_file: string; trust(ca: CertificatePair): void } {
    const cert_file = join(this.folder, `${crypto.randomUUID()}.pem`);
    const { ca: first } = this.made;
    writeFileSync(cert_file, first.cert);
    return { cert_file, trust: (ca) => writeFileSync(cert_file, `${first.cert}${ca.cert}`) };
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
      stranger: next.sign("stranger"),
    };
  }
}

export type ClientFiles = { ca?: { cert_file: string }; pair?: CertificatePair };

/** Returns the files in the form that `checkPeerTls` accepts. */
export function files(peer: Peer, { ca, pair }: ClientFiles) {
  const config = {
    [`${peer}_CA_FILE`]: ca?.cert_file,
    [`${peer}_CERT_FILE`]: pair?.cert_file,
    [`${peer}_KEY_FILE`]: pair?.key_file,
  };
  return peerTls(config, peer);
}

/** Returns the message for operators when `work` fails for lack of its store. */
export async function message(work: Promise<unknown>): Promise<string> {
  const error = await rejection(work);
  expect(error).toBeInstanceOf(StoreUnavailable);
  return error instanceof Error ? error.message : "";
}

/** The check of its server's certificate that every store must make. */
export interface StoreBed {
  peer: Peer;
  /** Returns the server's name in messages. */
  server(): string;
  show(pair: CertificatePair): Promise<void>;
  /** Opens the store, makes one call, and closes it. Rejects with the message of a start. */
  use(files: ClientFiles): Promise<void>;
  /** Does the same with a server that requires client certificates, if the store can have one. */
  useAsking(files: ClientFiles): Promise<void>;
}

export function behavesByTls(material: TlsMaterial, bed: StoreBed): void {
  const url = `${bed.peer}_URL`;
  const untrusted = () =>
    `The TLS certificate of ${bed.server()} (${url}) is not signed by a trusted CA: set ${bed.peer}_CA_FILE to the file of its CA.`;

  // OP-21
  test("a certificate of the named CA is accepted", async () => {
    await bed.show(material.made.good);
    await bed.use({ ca: material.made.ca, pair: material.made.client });
  });

  // OP-21
  test("a certificate of another CA is refused, and of a private CA when none is named", async () => {
    await bed.show(material.made.good);
    expect(await message(bed.use({ ca: material.made.next, pair: material.made.client }))).toBe(untrusted());
    expect(await message(bed.use({}))).toBe(untrusted());
  });

  // OP-21
  test("a certificate for another host is refused", async () => {
    await bed.show(material.made.elsewhere);
    expect(await message(bed.use({ ca: material.made.ca, pair: material.made.client }))).toBe(
      `The TLS certificate of ${bed.server()} does not name the host in ${url}: correct the host, or issue a certificate for that host.`,
    );
  });

  test("an expired certificate is refused", async () => {
    await bed.show(material.made.expired);
    expect(await message(bed.use({ ca: material.made.ca, pair: material.made.client }))).toBe(
      `The TLS certificate of ${bed.server()} (${url}) has expired: renew the certificate.`,
    );
  });

  // OP-21
  test("a server that requires client certificates admits its clients alone", async () => {
    await bed.show(material.made.good);
    const files = `${bed.peer}_CERT_FILE and ${bed.peer}_KEY_FILE`;
    expect(await message(bed.useAsking({ ca: material.made.ca }))).toContain(files);
    expect(await message(bed.useAsking({ ca: material.made.ca, pair: material.made.stranger }))).toBe(
      `The client's TLS certificate was refused by ${bed.server()} (${url}): set ${files} to a certificate that the server trusts.`,
    );
    await bed.useAsking({ ca: material.made.ca, pair: material.made.client });
  });
}
