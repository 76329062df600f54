import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate for `localhost` and 127.0.0.1 with its key, in files. */
export interface CertificatePair {
  readonly cert_file: string;
  readonly key_file: string;
  readonly cert: string;
}

/** A folder of certificates that openssl makes, signed by themselves. */
export class Certificates {
  readonly folder = mkdtempSync(join(tmpdir(), "ostiary-certificates-"));

  make(name: string, options: { days?: number; passphrase?: string } = {}): CertificatePair {
    const folder = join(this.folder, name);
    mkdirSync(folder, { recursive: true });
    const pair = { cert_file: join(folder, "tls.crt"), key_file: join(folder, "tls.key") };
    const made = Bun.spawnSync([
      ..."openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1".split(" "),
      ...(options.passphrase === undefined ? ["-nodes"] : ["-passout", `pass:${options.passphrase}`]),
      ...["-keyout", pair.key_file, "-out", pair.cert_file, "-days", String(options.days ?? 30)],
      ...["-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
    ]);
    if (!made.success) throw new Error(`openssl made no certificate: ${made.stderr}`);
    return { ...pair, cert: readFileSync(pair.cert_file, "utf8") };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
