import { Entity, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { CompanyOwned } from "./kit/row.js"
import { HexColor } from "./kit/scalars.js"

@ObjectType({ description: "A folder of the inbox; a chat sits in at most one." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
export class ChatFolder extends CompanyOwned {
  @Field(() => String, { description: "Shown to people, 1 to 80 characters." })
  @Property({ type: "text" })
  name!: string

  @Field(() => HexColor, { description: "Shown beside the name." })
  @Property({ type: "text", default: "#808080" })
  color: string = "#808080"
}
