import { withSql } from "./sql.ts";

/**
 * Settings of a database or role that change how PostgreSQL parses statements, formats values or ends
 * sessions.
 */
const settings: Record<string, string> = {
  DateStyle: "SQL, DMY",
  TimeZone: "Asia/Kathmandu",
  IntervalStyle: "sql_standard",
  client_encoding: "LATIN1",
  standard_conforming_strings: "off",
  escape_string_warning: "off",
  bytea_output: "escape",
  extra_float_digits: "-15",
  search_path: "nowhere",
  default_transaction_isolation: "serializable",
  lock_timeout: "1ms",
  statement_timeout: "1ms",
  idle_in_transaction_session_timeout: "1ms",
  idle_session_timeout: "100ms",
  plan_cache_mode: "force_generic_plan",
  synchronous_commit: "off",
  default_tablespace: "pg_default",
};

/**
 * Applies the hostile settings to the database at `url` and to its current role, whose settings take
 * precedence. Returns the database's URL with some of the settings as query parameters.
 */
export async function makeHostile(url: string): Promise<string> {
  const name = new URL(url).pathname.slice(1);
  await withSql(url, async (sql) => {
    for (const [setting, value] of Object.entries(settings)) {
      const given = setting === "search_path" ? value : `'${value}'`;
      await sql.unsafe(`alter database ${name} set ${setting} to ${given}`);
      await sql.unsafe(`alter role current_user in database ${name} set ${setting} to ${given}`);
    }
  });
  const hostile = new URL(url);
  hostile.searchParams.set("datestyle", "SQL, DMY");
  hostile.searchParams.set("Search_Path", "nowhere");
  hostile.searchParams.set("options", "-c timezone=Asia/Kathmandu -c statement_timeout=1");
  return hostile.href;
}
