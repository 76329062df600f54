import { systemErrorCode } from "../../../domain/errors/index.ts";
import { databaseUsesTls } from "../../config/index.ts";
import { StoreUnavailable } from "../errors.ts";
import { tlsRefusal } from "../store-boot-failure.ts";
import { IsStandby } from "./connection.ts";
import { NoPrimary } from "./connector.ts";
import { reportedFailure } from "./failure.ts";
import { UnusableSession } from "./usable-sessions.ts";

/** Returns the error of a start, with one sentence for the operator (OP-14). The sentence never has the password. */
export function databaseBootFailure(error: unknown, url: string): StoreUnavailable {
  const refusal = reportedFailure(error);
  const values: Readonly<Record<string, string>> = {
    ...placesOf(url),
    state: refusal?.code ?? "",
    reason: refusal?.message ?? "",
    setting: /["«„“]([\w.]+)["»“”]/.exec(refusal?.message ?? "")?.[1] ?? "",
  };
  const message = sentence(error, databaseUsesTls(url)).replace(
    /\{(\w+)\}/g,
    (_, name: string) => values[name] ?? "",
  );
  return new StoreUnavailable("database", error, { message });
}

/** The text for a part that is missing in the URL. The driver uses its default for that part. */
const DEFAULT = "(the default)";

function placesOf(url: string) {
  const [, authority = "", database = ""] = /^[a-z]+:\/\/([^/?#]*)\/?([^?#]*)/.exec(url) ?? [];
  const host = authority.lastIndexOf("@") + 1;
  const user = authority.slice(0, Math.max(0, host - 1)).split(":")[0] ?? "";
  return { server: authority.slice(host), user: user || DEFAULT, database: database || user || DEFAULT };
}

const REFUSED_SETTING =
  "The server at {server} does not accept the setting {setting} in DATABASE_URL: correct the setting, or remove it.";

/** The sentences by SQLSTATE. */
const REFUSALS: Readonly<Record<string, string>> = {
  "3D000":
    "The database {database} that DATABASE_URL names does not exist at {server}: create it, or correct the name.",
  "28P01":
    "The server at {server} refuses user {user} with the password of DATABASE_URL: correct the URL, or set the password of the user again.",
  "42501":
    "The user {user} of DATABASE_URL may not connect to database {database} at {server}: grant CONNECT on the database.",
  "42704": REFUSED_SETTING,
  "22023": REFUSED_SETTING,
  "08P01":
    "The pooler at {server} refuses a setting in DATABASE_URL: remove the setting, or name it in ignore_startup_parameters of the pooler.",
  "53300":
    "The server at {server} (DATABASE_URL) has no free connection: end some connections, or raise max_connections.",
  "57P03":
    "The server at {server} (DATABASE_URL) is starting up or shutting down: start again once the server is up.",
};

/** Returns a sentence with the names of values in braces. */
function sentence(error: unknown, tls: boolean): string {
  if (error instanceof UnusableSession) return error.message;
  const refusal = reportedFailure(error);
  if (refusal === undefined) return connectionSentence(error, tls);
  const { code, message } = refusal;
  if (code === "28000") {
    if ("routine" in refusal && refusal.routine === "InitializeSessionUserId") {
      return "The user {user} of DATABASE_URL does not exist at {server}, or may not log in: create the user with LOGIN.";
    }
    return `The server at {server} does not let user {user} of DATABASE_URL into database {database} from this machine. The server may require ${tls ? "a client certificate, which DATABASE_CERT_FILE and DATABASE_KEY_FILE name" : "TLS, which ?sslmode=verify-full turns on"}.`;
  }
  // PgBouncer has one SQLSTATE for all its refusals.
  if (code === "08P01" && !/parameter/.test(message)) {
    return "The pooler at {server} refuses the connection of DATABASE_URL. It says: {reason}.";
  }
  return (
    REFUSALS[code] ?? "The server at {server} refuses the connection of DATABASE_URL (SQLSTATE {state})."
  );
}

function connectionSentence(error: unknown, tls: boolean): string {
  if (error instanceof NoPrimary) {
    return `No server accepts writes. ${connectionSentence(error.cause, tls)}`;
  }
  if (error instanceof IsStandby)
    return "The server at {server} (DATABASE_URL) is a standby: name the primary.";
  const code = systemErrorCode(error) ?? systemErrorCode(error instanceof Error ? error.cause : null) ?? "";
  if (code === "ECONNREFUSED")
    return "Nothing listens at {server} (DATABASE_URL): start the server, or correct the URL.";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return "The host of DATABASE_URL cannot be resolved: {server}. Correct the URL, or the DNS.";
  }
  if (tls && code === "ECONNRESET") {
    return "DATABASE_URL requires TLS (sslmode), but the server at {server} does not speak TLS: correct sslmode, or turn TLS on at the server.";
  }
  return (
    (tls ? tlsRefusal("DATABASE", "{server}", code) : undefined) ??
    "The database at {server} (DATABASE_URL) does not respond: check that the server runs and that the network lets connections through."
  );
}
