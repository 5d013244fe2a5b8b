import { words } from "../../entities/kit/words.js"

/** Direction of a sorted list. */
export const SortOrderEnum = words("SortOrder", "Sort order.", { ASC: "Ascending: oldest first.", DESC: "Descending: newest first." })
