/** Names for the peer of a failed TLS handshake, in messages for an operator. */
interface TlsPeer {
  /** The environment variable of the peer's URL, such as `DATABASE_URL`. */
  url: string;
  /** The prefix of the environment variables of the peer's TLS files, such as `DATABASE`. */
  prefix: string;
}

/**
 * Returns the sentence about a store if its TLS handshake failed. `error` is an error code or text, because
 * gRPC passes on only the text. Returns undefined for any other failure.
 */
export function tlsError(error: string, server: string, { url, prefix }: TlsPeer): string | undefined {
  const said = ERRORS.find(([words]) => words.test(error))?.[1];
  return said?.replaceAll("{server}", server).replaceAll("{url}", url).replaceAll("{prefix}", prefix);
}

/** Returns whether an error code or text belongs to a failed TLS handshake. */
export function isTlsError(error: string): boolean {
  return ERRORS.some(([words]) => words.test(error));
}

const ERRORS: [words: RegExp, sentence: string][] = [
  [
    /CERT_HAS_EXPIRED|certificate has expired/,
    "The TLS certificate of {server} ({url}) has expired: renew the certificate.",
  ],
  [
    /CERT_NOT_YET_VALID|certificate is not yet valid/,
    "The TLS certificate of {server} ({url}) is not valid yet: check the clocks of both machines.",
  ],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames/,
    "The TLS certificate of {server} does not name the host in {url}: correct the host, or issue a certificate for that host.",
  ],
  [
    /SELF_SIGNED_CERT|self[- ]signed certificate|UNABLE_TO_(VERIFY|GET)|unable to (verify|get)|INVALID_CA|CERT_SIGNATURE_FAILURE|certificate signature failure/,
    "The TLS certificate of {server} ({url}) is not signed by a trusted CA: set {prefix}_CA_FILE to the file of its CA.",
  ],
  [
    /ALERT_(CERTIFICATE|BAD_CERT|UNKNOWN_CA|HANDSHAKE_FAILURE|UNSUPPORTED_CERT|ACCESS_DENIED)|tlsv1 alert|CERTIFICATE_REQUIRED|ALERT_DECRYPT_ERROR/,
    "The client's TLS certificate was refused by {server} ({url}): set {prefix}_CERT_FILE and {prefix}_KEY_FILE to a certificate that the server trusts.",
  ],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|INVALID_COMMAND|UNEXPECTED_MESSAGE|UNKNOWN_PROTOCOL/,
    "{url} requires TLS, but {server} does not speak TLS: correct the URL, or turn TLS on at the server.",
  ],
];
