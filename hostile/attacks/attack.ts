import type { Report } from "../../test/kit/campaign/report.js"
import type { TestBed } from "../kit/test-bed.js"

/** An attack that was once successful. */
export interface Attack {
  title: string
  /** Whether it is about load: then it is measured how another company is served meanwhile, and what memory it leaves. */
  isLoad?: boolean
  /** Whether the other company's median may not exceed three times its median at rest; its client pauses between two queries then. */
  mustNotDelay?: boolean
  /** Runs before memory is measured, so that code is compiled and caches are filled. */
  warmUp?(bed: TestBed): Promise<void>
  /** Attacks, and checks what the attacker was answered. */
  run(bed: TestBed, report: Report): Promise<void>
}
