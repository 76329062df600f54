import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";

/** The files of a certificate and its key, with the certificate's text. */
export interface CertificatePair {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
}

interface CertificateOptions {
  passphrase?: string;
}

/** The subject alternative names of this machine, in the syntax of openssl. */
const HERE = "DNS:localhost,IP:127.0.0.1";

/** A temporary folder with the certificates that its methods create with openssl. */
export class Certificates {
  readonly folder = temporaryFolder("certificates");

  constructor() {
    // PostgreSQL runs under another account and must be able to read the files.
    chmodSync(this.folder, 0o755);
  }

  /** Creates a self-signed certificate for `localhost` and 127.0.0.1. */
  make(name: string, { passphrase }: CertificateOptions = {}): CertificatePair {
    return this.#made(name, passphrase, [
      ...["req", "-x509", "-subj", `/CN=${name}`, "-days", "30"],
      ...["-addext", `subjectAltName=${HERE}`],
    ]);
  }

  authority(name: string): CertificateAuthority {
    const pair = this.#made(name, undefined, ["req", "-x509", "-subj", `/CN=${name}`, "-days", "30"]);
    const folder = join(this.folder, name);
    writeFileSync(join(folder, "index.txt"), "");
    writeFileSync(join(folder, "ca.cnf"), AUTHORITY);
    return { ...pair, sign: (subject, options) => this.#signed(folder, pair, subject, options) };
  }

  #signed(
    authority: string,
    { certFile: caCert, keyFile: caKey }: CertificatePair,
    name: string,
    { names = HERE, expired = false }: SignOptions = {},
  ): CertificatePair {
    const request = `${name}-${crypto.randomUUID()}`;
    const asked = this.#made(request, undefined, [
      ...["req", "-new", "-subj", `/CN=${name}`, "-addext", `subjectAltName=${names}`],
    ]);
    const signed = join(this.folder, request, "signed.crt");
    const times = expired ? ["20200101000000Z", "20200201000000Z"] : ["20200101000000Z", "20490101000000Z"];
    openssl(
      [
        ...["ca", "-batch", "-notext", "-config", "ca.cnf", "-cert", caCert, "-keyfile", caKey],
        ...["-in", asked.certFile, "-out", signed, "-startdate", times[0] ?? "", "-enddate", times[1] ?? ""],
      ],
      authority,
    );
    return { ...asked, certFile: signed, cert: readFileSync(signed, "utf8") };
  }

  #made(name: string, passphrase: string | undefined, parameters: string[]): CertificatePair {
    const folder = join(this.folder, name);
    mkdirSync(folder, { recursive: true });
    const pair = { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
    openssl([
      ...parameters,
      ..."-newkey ec -pkeyopt ec_paramgen_curve:prime256v1".split(" "),
      ...(passphrase === undefined ? ["-nodes"] : ["-passout", `pass:${passphrase}`]),
      ...["-keyout", pair.keyFile, "-out", pair.certFile],
    ]);
    return { ...pair, cert: readFileSync(pair.certFile, "utf8") };
  }
}

interface SignOptions {
  /** The subject alternative names, such as `DNS:localhost`. The default is `localhost` and 127.0.0.1. */
  names?: string;
  expired?: boolean;
}

export interface CertificateAuthority extends CertificatePair {
  sign(name: string, options?: SignOptions): CertificatePair;
}

const AUTHORITY = `
[ca]
default_ca = authority
[authority]
database = index.txt
rand_serial = yes
new_certs_dir = .
default_md = sha256
policy = policy
copy_extensions = copy
unique_subject = no
[policy]
commonName = supplied
`;

function openssl(parameters: string[], cwd?: string): void {
  const made = Bun.spawnSync(["openssl", ...parameters], { cwd });
  if (!made.success) throw new Error(`openssl made no certificate: ${made.stderr}`);
}
