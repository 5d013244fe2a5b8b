import { portLimits } from "../limits.js"
import type { SaidText, VoiceReply } from "../voice.js"

const { simulatedWordsPerSecond, simulatedSampleRate, simulatedRecordingSeconds } = portLimits

const roundedToTenth = (seconds: number) => Math.round(seconds * 10) / 10

/** Texts with the times at which they would be spoken, one after the other. */
export function timed(said: readonly SaidText[]): VoiceReply[] {
  let at = 0
  return said.map(({ role, text }) => {
    const startSeconds = roundedToTenth(at)
    at += Math.max(1, text.trim().split(/\s+/).length / simulatedWordsPerSecond)
    return { role, text, startSeconds, endSeconds: roundedToTenth(at) }
  })
}

/** Tones in hertz. */
const tones = { agent: 440, customer: 330 }

/** Quiet enough not to hurt; the middle of an 8-bit sample is its silence. */
const silence = 128
const loudness = 32

/** A WAV file, mono with 8 bits a sample, in which each reply is a tone, at most 30 s. */
export function toneRecording(replies: readonly VoiceReply[]): Buffer {
  const seconds = Math.min(simulatedRecordingSeconds, replies.at(-1)?.endSeconds ?? 1)
  const samples = Buffer.alloc(Math.ceil(seconds * simulatedSampleRate), silence)
  for (const { role, startSeconds, endSeconds } of replies) {
    const end = Math.min(samples.length, Math.floor((endSeconds ?? 0) * simulatedSampleRate))
    for (let index = Math.floor((startSeconds ?? 0) * simulatedSampleRate); index < end; index += 1)
      samples[index] = silence + Math.round(loudness * Math.sin((2 * Math.PI * tones[role] * index) / simulatedSampleRate))
  }
  return Buffer.concat([wavHeader(samples.length), samples])
}

/** The header of a WAV file with this many samples of one byte. */
function wavHeader(samples: number): Buffer {
  const header = Buffer.alloc(44)
  header.write("RIFF", 0)
  header.writeUInt32LE(36 + samples, 4)
  header.write("WAVEfmt ", 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(simulatedSampleRate, 24)
  header.writeUInt32LE(simulatedSampleRate, 28)
  header.writeUInt16LE(1, 32)
  header.writeUInt16LE(8, 34)
  header.write("data", 36)
  header.writeUInt32LE(samples, 40)
  return header
}
