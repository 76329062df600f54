import { Etcd3 } from "etcd3";

/** Turns on the authentication of an etcd server, with `root` and users without a role. */
export async function requireUser(url: string, password: string, others: string[] = []): Promise<void> {
  const client = new Etcd3({ hosts: url });
  await client.auth.roleAdd({ name: "root" });
  for (const name of ["root", ...others]) await client.auth.userAdd({ name, password });
  await client.auth.userGrantRole({ user: "root", role: "root" });
  await client.auth.authEnable();
  client.close();
}
