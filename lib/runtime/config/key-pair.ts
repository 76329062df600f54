import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ConfigProblem } from "./load.ts";

interface NamedFile {
  variable: string;
  path: string;
}

export interface KeyPair {
  cert: string;
  key: string;
}

/** Reads a certificate and its key, or returns the problem. The problem never quotes the key. */
export function readKeyPair(certFile: NamedFile, keyFile: NamedFile): KeyPair | ConfigProblem {
  const cert = readText(certFile.path);
  if (cert === null) return unreadable(certFile);
  const key = readText(keyFile.path);
  if (key === null) return unreadable(keyFile);
  const certificate = attempt(() => new X509Certificate(cert));
  if (certificate === null) {
    const message = "must hold a certificate in PEM form, with its chain after it.";
    return { variable: certFile.variable, message };
  }
  const privateKey = attempt(() => createPrivateKey(key));
  if (privateKey === null) {
    const message = "must hold a private key in PEM form, without a passphrase.";
    return { variable: keyFile.variable, message };
  }
  if (!certificate.checkPrivateKey(privateKey)) {
    const message = `must hold the private key of the certificate in ${certFile.variable}.`;
    return { variable: keyFile.variable, message };
  }
  return { cert, key };
}

export function loneFileProblems(
  names: { cert: string; key: string },
  given: { cert: unknown; key: unknown },
): ConfigProblem[] {
  if ((given.cert === undefined) === (given.key === undefined)) return [];
  const [missing, present] = given.key === undefined ? [names.key, names.cert] : [names.cert, names.key];
  return [{ variable: missing, message: `is required if ${present} is set.` }];
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Reads one or more certificates in PEM form. Returns null if there is none, or a malformed one. */
export function readCertificates(path: string): string | null {
  const text = readText(path);
  const found = text?.match(CERTIFICATE) ?? [];
  const valid = found.length > 0 && found.every((each) => attempt(() => new X509Certificate(each)) !== null);
  return valid ? text : null;
}

function unreadable({ variable }: NamedFile): ConfigProblem {
  return { variable, message: "must be a file that this user may read." };
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
