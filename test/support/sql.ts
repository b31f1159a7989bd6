import mysql, { type RowDataPacket } from 'mysql2/promise';

/** Runs one statement on a MySQL or MariaDB server over a connection of its own, and answers the rows. */
export async function runSql(url: string, statement: string): Promise<RowDataPacket[]> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 5000 });
  try {
    const [rows] = await connection.query<RowDataPacket[]>(statement);
    return rows;
  } finally {
    await connection.end();
  }
}

/** What the server says of itself, such as `10.11.19-MariaDB-deb12` or `8.4.6`. */
export async function serverVersion(url: string): Promise<string> {
  const [row] = await runSql(url, 'SELECT VERSION() AS version');
  return String(row?.version);
}
