import supertest from "supertest"
import { fakeS3 } from "../kit/fake-s3.js"
import { samples } from "../kit/files.js"
import { receiver } from "../kit/receiver.js"
import { serverProcess } from "../kit/server-process.js"
import { world } from "../kit/world.js"

const w = world()
const { acme } = w

it("a built server works with what it loads only where it is configured: models, a bucket, traces", async () => {
  const [s3, traces] = await Promise.all([fakeS3(), receiver()])
  const key = {
    ALLOW_PRIVATE_NETWORK: "true",
    OPENAI_API_KEY: "key",
    ANTHROPIC_API_KEY: "key",
    EMBEDDING_API_KEY: "key",
    ELEVENLABS_API_KEY: "key",
  }
  const bucket = { S3_BUCKET: s3.bucket, S3_ENDPOINT: s3.endpoint, S3_ACCESS_KEY_ID: "id", S3_SECRET_ACCESS_KEY: "secret" }
  const server = await serverProcess(w, { ...key, ...bucket, OTEL_EXPORTER_OTLP_ENDPOINT: traces.url })
  try {
    const api = supertest(server.url)
    const { body } = await api
      .post("/api/media/upload")
      .set("x-access-token", acme.token)
      .attach("file", samples.png, "dot.png")
      .expect(201)
    expect([...s3.objects.keys()]).toEqual([`media/${acme.id}/${body.id}`])
    const { pathname, search } = new URL(body.url)
    expect((await api.get(pathname + search).expect(200)).body).toEqual(samples.png)
    // A ZIP file that was cut off: the end of the file was an unexpected error, because the bundle had a second copy of its class.
    const cut = Buffer.from("PK\x03\x04\x14\x00\x00", "latin1")
    await api.post("/api/media/upload").set("x-access-token", acme.token).attach("file", cut, "cut.zip").expect(201)
    const query = { query: "{ textModels { name } }" }
    const models = await api.post("/graphql").set("x-access-token", acme.token).send(query).expect(200)
    expect(models.body.data.textModels).toHaveLength(3)
    // The last spans leave when the server is stopped.
    await server.stop()
    const spans = traces.requests.map(({ body: sent }) => String(sent)).join("\n")
    expect(spans).toContain('"name":"POST /api/media/upload"')
    expect(spans).toMatch(/"name":"(SELECT|WITH) /)
  } finally {
    await server.stop("SIGKILL")
    await Promise.all([s3.close(), traces.close()])
  }
})
