import { systemErrorCode } from "../../../domain/errors/index.ts";
import { databaseUsesTls } from "../../config/index.ts";
import { tlsRefusal } from "../boot-failure.ts";
import { StoreUnavailable } from "../errors.ts";
import { IsStandby } from "./connection.ts";
import { NoPrimary } from "./connector.ts";
import { reportedFailure, sqlState } from "./failure.ts";
import { UnusableSession } from "./usable-sessions.ts";

/** Returns the error of a start, with one sentence for the operator (OP-14). The sentence never has the password. */
export function databaseBootFailure(error: unknown, url: string): StoreUnavailable {
  return new StoreUnavailable("database", error, { message: sentence(error, placesOf(url)) });
}

interface Places {
  server: string;
  user: string;
  database: string;
  tls: boolean;
}

/** The text for a part that is missing in the URL. The driver uses its default for that part. */
const DEFAULT = "(the default)";

function placesOf(url: string): Places {
  const [, authority = "", database = ""] = /^[a-z]+:\/\/([^/?#]*)\/?([^?#]*)/.exec(url) ?? [];
  const host = authority.lastIndexOf("@") + 1;
  const user = authority.slice(0, Math.max(0, host - 1)).split(":")[0] ?? "";
  return {
    server: authority.slice(host),
    user: user || DEFAULT,
    database: database || user || DEFAULT,
    tls: databaseUsesTls(url),
  };
}

function sentence(error: unknown, places: Places): string {
  if (error instanceof UnusableSession) return error.sentence(places.server, places.database);
  const state = sqlState(error);
  return state === undefined ? connectionSentence(error, places) : refusalSentence(state, error, places);
}

function refusalSentence(state: string, error: unknown, places: Places): string {
  const { server, user, database, tls } = places;
  switch (state) {
    case "3D000":
      return `The database ${database} that DATABASE_URL names does not exist at ${server}: create it, or correct the name.`;
    case "28P01":
      return `The server at ${server} refuses user ${user} with the password of DATABASE_URL: correct the URL, or set the password of the user again.`;
    case "28000":
      if (error instanceof Error && "routine" in error && error.routine === "InitializeSessionUserId") {
        return `The user ${user} of DATABASE_URL does not exist at ${server}, or may not log in: create the user with LOGIN.`;
      }
      return `The server at ${server} does not let user ${user} of DATABASE_URL into database ${database} from this machine. The server may require ${tls ? "a client certificate, which DATABASE_CERT_FILE and DATABASE_KEY_FILE name" : "TLS, which ?sslmode=verify-full turns on"}.`;
    case "42501":
      return `The user ${user} of DATABASE_URL may not connect to database ${database} at ${server}: grant CONNECT on the database.`;
    case "42704":
    case "22023":
      return `The server at ${server} does not accept the setting ${quotedIn(error)} in DATABASE_URL: correct the setting, or remove it.`;
    case "08P01": {
      // PgBouncer has one SQLSTATE for all its refusals.
      const message = reportedFailure(error)?.message ?? "";
      return /parameter/.test(message)
        ? `The pooler at ${server} refuses a setting in DATABASE_URL: remove the setting, or name it in ignore_startup_parameters of the pooler.`
        : `The pooler at ${server} refuses the connection of DATABASE_URL. It says: ${message}.`;
    }
    case "53300":
      return `The server at ${server} (DATABASE_URL) has no free connection: end some connections, or raise max_connections.`;
    case "57P03":
      return `The server at ${server} (DATABASE_URL) is starting up or shutting down: start again once the server is up.`;
    default:
      return `The server at ${server} refuses the connection of DATABASE_URL (SQLSTATE ${state}).`;
  }
}

function quotedIn(error: unknown): string {
  const [, name = ""] = /["«„“]([\w.]+)["»“”]/.exec(error instanceof Error ? error.message : "") ?? [];
  return name;
}

function connectionSentence(error: unknown, places: Places): string {
  const { server, tls } = places;
  if (error instanceof NoPrimary) {
    return `No server accepts writes. ${connectionSentence(error.cause, places)}`;
  }
  if (error instanceof IsStandby)
    return `The server at ${server} (DATABASE_URL) is a standby: name the primary.`;
  const code = systemErrorCode(error) ?? systemErrorCode(error instanceof Error ? error.cause : null) ?? "";
  if (code === "ECONNREFUSED")
    return `Nothing listens at ${server} (DATABASE_URL): start the server, or correct the URL.`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return `The host of DATABASE_URL cannot be resolved: ${server}. Correct the URL, or the DNS.`;
  }
  if (tls && code === "ECONNRESET") {
    return `DATABASE_URL requires TLS (sslmode), but the server at ${server} does not speak TLS: correct sslmode, or turn TLS on at the server.`;
  }
  const refused = tls ? tlsRefusal("DATABASE", server, code) : undefined;
  if (refused !== undefined) return refused;
  return `The database at ${server} (DATABASE_URL) does not answer: check that the server runs and that the network lets connections through.`;
}
