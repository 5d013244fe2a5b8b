import { Entity, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { CompanyOwned } from "./kit/row.js"

@ObjectType({ description: "A folder for assistants." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
export class AssistantFolder extends CompanyOwned {
  @Field(() => String, { description: "Name of the folder." })
  @Property({ type: "text" })
  name!: string
}
