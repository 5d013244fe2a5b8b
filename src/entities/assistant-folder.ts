import { Entity, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { CompanyOwned } from "./kit/row.js"

@ObjectType({ description: "A place to keep assistants in." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
export class AssistantFolder extends CompanyOwned {
  @Field(() => String, { description: "Its name." })
  @Property({ type: "text" })
  name!: string
}
