import { Entity, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { CompanyOwned } from "./kit/row.js"
import { HexColor } from "./kit/scalars.js"

@ObjectType({ description: "A folder for chats; a chat is in at most one folder." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
export class ChatFolder extends CompanyOwned {
  @Field(() => String, { description: "Name of the folder, 1 to 80 characters." })
  @Property({ type: "text" })
  name!: string

  @Field(() => HexColor, { description: "Color of the folder." })
  @Property({ type: "text", default: "#808080" })
  color: string = "#808080"
}
