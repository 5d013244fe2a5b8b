import { type Config, isLoopback } from "./config.js"

/** One line for each setting that the server starts with, but that is probably not what an operator wants. */
export function startWarnings(config: Config): string[] {
  return [...general(config), ...(config.production ? inProduction(config) : [])]
}

function general({ allowPrivateNetwork, elevenlabs, publicUrl }: Config): string[] {
  const lines: string[] = []
  if (allowPrivateNetwork) lines.push("requests to loopback and internal addresses are allowed (ALLOW_PRIVATE_NETWORK)")
  if (elevenlabs && !publicUrl) lines.push("without PUBLIC_URL, agents at ElevenLabs have no tools, and calls are only looked up")
  else if (elevenlabs && !elevenlabs.webhookSecret) lines.push("without ELEVENLABS_WEBHOOK_SECRET, calls are only looked up")
  return lines
}

function inProduction({ databaseUrl, s3, publicUrl, host, trustProxy }: Config): string[] {
  const lines: string[] = []
  if (!databaseUrl) lines.push("without DATABASE_URL, the embedded database in DATA_DIR is used, which serves one instance only")
  if (!s3) lines.push("without S3_BUCKET, files are stored in DATA_DIR, where other instances find them only on a shared disk")
  if (!publicUrl) lines.push("without PUBLIC_URL, links to files and pages lead to this machine only")
  else if (isLoopback(new URL(publicUrl).hostname)) {
    if (!isLoopback(host)) lines.push("PUBLIC_URL is a loopback address: links to files and pages work on this machine only")
  } else if (new URL(publicUrl).protocol === "http:") lines.push("PUBLIC_URL is not https: credentials and messages are sent unencrypted")
  if (!isLoopback(host) && trustProxy === 0)
    lines.push("HOST accepts other machines and TRUST_PROXY is off: without a proxy in front, connections are not encrypted")
  return lines
}
