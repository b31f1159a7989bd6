import mysql, { type RowDataPacket } from 'mysql2/promise';

/** Runs one statement on a MySQL or MariaDB server over a new connection, and returns the rows. */
export async function runSql(url: string, statement: string): Promise<RowDataPacket[]> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 5000 });
  try {
    const [rows] = await connection.query<RowDataPacket[]>(statement);
    return rows;
  } finally {
    await connection.end();
  }
}

/** The version of the server, such as `10.11.19-MariaDB-deb12` or `8.4.6`. */
export async function serverVersion(url: string): Promise<string> {
  const [row] = await runSql(url, 'SELECT VERSION() AS version');
  return String(row?.version);
}
