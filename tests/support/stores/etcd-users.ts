import { Etcd3, Range } from "etcd3";

/** A right of a role on all keys below a prefix. */
export interface Right {
  readonly role: string;
  readonly permission: "Read" | "Write" | "Readwrite";
  readonly prefix: string;
}

/** Turns on the authentication of an etcd server, with `root`, `others` and a user for each role of `rights`. */
export async function requireUser(
  url: string,
  password: string,
  others: string[] = [],
  rights: readonly Right[] = [],
): Promise<void> {
  const client = new Etcd3({ hosts: url });
  const roles = ["root", ...new Set(rights.map(({ role }) => role))];
  for (const name of [...roles, ...others]) await client.user(name).create(password);
  for (const name of roles) await (await client.role(name).create()).addUser(name);
  for (const { role, permission, prefix } of rights) {
    await client.role(role).grant({ permission, range: Range.prefix(prefix) });
  }
  await client.auth.authEnable();
  client.close();
}
