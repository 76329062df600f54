import postgres from "postgres";

/** Opens one connection to a database, without notices on the console. */
export function connect(url: string): postgres.Sql {
  return postgres(url, { max: 1, onnotice: () => {} });
}

/** Calls `work` with a connection to a database, and ends the connection afterwards. */
export async function withSql<Result>(
  url: string,
  work: (sql: postgres.Sql) => PromiseLike<Result>,
): Promise<Result> {
  const sql = connect(url);
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Runs statements in a connection of their own. Returns the rows. */
export function runSql(url: string, statements: string): Promise<postgres.Row[]> {
  return withSql(url, (sql) => sql.unsafe(statements));
}
