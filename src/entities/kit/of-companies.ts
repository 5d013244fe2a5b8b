/** The filter by which the rows of these tables are of the companies in reach. */
export const ofCompanies = {
  name: "company",
  cond: (args: Record<string, unknown>) => ({ companyId: { $in: args["ids"] as string[] } }),
  default: true,
}
