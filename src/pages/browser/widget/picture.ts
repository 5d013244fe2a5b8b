import { element } from "./dom.js"
import { widgetLimits } from "./limits.js"
import type { Media } from "./types.js"

/** Whether a file is a picture that the chat shows, and not only links to. */
export const isPicture = ({ mimeType, size }: Media) => /^image\/(?:png|jpeg|gif|webp)$/.test(mimeType) && size <= widgetLimits.pictureBytes

/**
 * Draws a picture of this server. On a canvas, because the policy of a host page that allows requests to the server (`connect-src`) may still
 * refuse its images (`img-src`). Null when the picture cannot be read.
 */
export async function drawPicture(url: string): Promise<HTMLCanvasElement | null> {
  try {
    const response = await fetch(url)
    if (!response.ok) return null
    const bitmap = await createImageBitmap(await response.blob())
    const scale = Math.min(1, widgetLimits.picturePixels / Math.max(bitmap.width, bitmap.height))
    const [width, height] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * scale))) as [number, number]
    const attributes = { class: "picture", "aria-hidden": "true", width: String(width), height: String(height) }
    const canvas = element("canvas", attributes) as HTMLCanvasElement
    canvas.getContext("2d")!.drawImage(bitmap, 0, 0, width, height)
    bitmap.close()
    return canvas
  } catch {
    // No connection, or no picture: the link to the file, which is there before, stays what the visitor gets.
    return null
  }
}
