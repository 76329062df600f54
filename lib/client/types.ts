import type { FetchResponse, MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, PathsWithMethod, RequiredKeysOf } from "openapi-typescript-helpers";

/** The result of a call that succeeded. Every other call throws. */
export interface Success<Data> {
  readonly data: Data;
  readonly response: Response;
}

/** The operation of a path and a method. */
type At<Paths, Path extends keyof Paths, Verb extends HttpMethod> = Paths[Path][Verb & keyof Paths[Path]];

/** The parameters and the body that an operation takes. */
type Takes<Paths, Path extends keyof Paths, Verb extends HttpMethod> = MaybeOptionalInit<
  Paths[Path],
  Verb & keyof Paths[Path]
>;

/** The parameters, the body and the options of a call. They are optional if the operation requires none. */
export type Init<Given> =
  RequiredKeysOf<Given> extends never
    ? [(Given & { [name: string]: unknown })?]
    : [Given & { [name: string]: unknown }];

/** The data of a response that is a success. */
export type DataOf<Operation, Given> = Extract<
  FetchResponse<Extract<Operation, Record<string | number, unknown>>, Given, "application/json">,
  { data: unknown }
>["data"];

/** A method of the client, such as `GET`. */
export type Method<Paths extends object, Verb extends HttpMethod> = <
  Path extends PathsWithMethod<Paths, Verb>,
  Given extends Takes<Paths, Path, Verb>,
>(
  path: Path,
  ...init: Init<Given>
) => Promise<Success<DataOf<At<Paths, Path, Verb>, Given>>>;

/** The fields of a page that have lists of items with ids. */
export type ListNames<Page> = {
  [Name in keyof Page]: Page[Name] extends readonly { id: string }[] ? Name : never;
}[keyof Page];

export type ItemOf<Page, Name extends keyof Page> = Page[Name] extends readonly (infer Item)[] ? Item : never;

/** Reads a list page by page. `name` is the field of a page that has the items. */
type ReadList<Paths extends object, What extends "page" | "item"> = <
  Path extends PathsWithMethod<Paths, "get">,
  Given extends Takes<Paths, Path, "get">,
  Name extends ListNames<DataOf<At<Paths, Path, "get">, Given>>,
>(
  path: Path,
  name: Name,
  ...init: Init<Given>
) => AsyncGenerator<
  What extends "page"
    ? DataOf<At<Paths, Path, "get">, Given>
    : ItemOf<DataOf<At<Paths, Path, "get">, Given>, Name>,
  void,
  undefined
>;

/** A client of an API. Each method throws an `OstiaryError` unless the call succeeds. */
export interface Client<Paths extends object> {
  readonly GET: Method<Paths, "get">;
  readonly HEAD: Method<Paths, "head">;
  readonly POST: Method<Paths, "post">;
  readonly PUT: Method<Paths, "put">;
  readonly PATCH: Method<Paths, "patch">;
  readonly DELETE: Method<Paths, "delete">;
  /** Yields the pages of a list, and reads each page only when it is needed. */
  readonly pages: ReadList<Paths, "page">;
  /** Yields the items of a list, and reads each page when its first item is needed. */
  readonly items: ReadList<Paths, "item">;
  /**
   * Returns a client with a session in an organization of this client's person. The session is minted on first
   * use and renewed for all calls at once.
   */
  inOrganization(organization_id: string): Client<Paths>;
  /**
   * Sends any request with the credential, the repetitions and the time limit of this client, and returns its
   * response, whatever its status. `path` starts with a slash.
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}
