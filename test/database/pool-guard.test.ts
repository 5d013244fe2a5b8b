import { connect } from "../../src/database/connect.js"
import { closeDatabases, emptyDatabase } from "../kit/databases.js"
import { tcpProxy } from "../kit/tcp-proxy.js"
import { until } from "../kit/wait.js"

afterAll(closeDatabases)

it("a connection for which there is no password is closed, since PostgreSQL would keep it for a minute", async () => {
  const database = await emptyDatabase()
  const proxy = await tcpProxy(database.url)
  const url = Object.assign(new URL(proxy.url), { password: "" })
  await expect(connect(url.href)).rejects.toMatchObject({ message: expect.stringContaining("wants a password: DATABASE_URL has none") })
  await until("the connection is closed", () => proxy.open() === 0)
  expect(proxy.attempts()).toBe(1)
  await proxy.close()
})
