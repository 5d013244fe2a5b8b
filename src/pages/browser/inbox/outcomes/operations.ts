import type { FragmentOf, ResultOf } from "gql.tada"
import { graphql } from "../kit/graphql.js"

const numberFields = graphql(`
  fragment NumberFields on OutcomeNumbers {
    stretches aiAlone aiThenPerson personAlone unanswered reopened handedOff containment durableContainment handOffRate
    firstAnswerMs { ai { p50 p95 } people { p50 p95 } } ratings rating
  }
`)
const groupFields = graphql(
  `fragment GroupFields on OutcomeGroup { key name from to current { ...NumberFields } before { ...NumberFields } }`,
  [numberFields],
)

export type Numbers = FragmentOf<typeof numberFields>
export type OutcomeGroup = FragmentOf<typeof groupFields>

/** The numbers of a period, by days or weeks; with whether the company has any stretch. */
export const outcomesQuery = graphql(
  `query Outcomes($companyId: UUID!, $from: DateTime!, $to: DateTime!, $timeZone: String!, $by: OutcomeGroupBy!) {
    outcomes(companyId: $companyId, from: $from, to: $to, timeZone: $timeZone, by: $by) {
      from to before total { current { ...NumberFields } before { ...NumberFields } } groups { ...GroupFields }
    }
    stretches(companyId: $companyId, first: 1) { nodes { id } }
  }`,
  [numberFields, groupFields],
)

/** The same numbers by what can be compared. */
export const breakdownsQuery = graphql(
  `query OutcomeBreakdowns($companyId: UUID!, $from: DateTime!, $to: DateTime!, $timeZone: String!) {
    assistants: outcomes(companyId: $companyId, from: $from, to: $to, timeZone: $timeZone, by: ASSISTANT) { groups { ...GroupFields } }
    channels: outcomes(companyId: $companyId, from: $from, to: $to, timeZone: $timeZone, by: MESSENGER) { groups { ...GroupFields } }
    people: outcomes(companyId: $companyId, from: $from, to: $to, timeZone: $timeZone, by: PERSON) { groups { ...GroupFields } }
    reasons: outcomes(companyId: $companyId, from: $from, to: $to, timeZone: $timeZone, by: HANDOFF_REASON) { groups { ...GroupFields } }
  }`,
  [groupFields],
)

/** The rows behind a number. */
export const stretchesQuery = graphql(
  `query Stretches($companyId: UUID!, $from: DateTime!, $to: DateTime!, $filter: String!, $first: Int, $after: String) {
    stretches(companyId: $companyId, from: $from, to: $to, filter: $filter, first: $first, after: $after) {
      nodes {
        id startedAt messenger outcome reopened handOffReason rating firstAnswerMs { ai people }
        person { id name } assistant { id name } chat { id name accountName username phoneNumber }
      }
      pageInfo { hasNextPage endCursor }
    }
  }`,
)

/** Questions to which the search of the knowledge found nothing, with their chats. */
export const questionsQuery = graphql(
  `query UnansweredQuestions($companyId: UUID!, $from: DateTime!, $to: DateTime!, $state: UnansweredQuestionState, $first: Int, $after: String) {
    unansweredQuestions(companyId: $companyId, from: $from, to: $to, state: $state, first: $first, after: $after) {
      nodes {
        id companyId question count lastAskedAt closedAt assistant { id name }
        asked { id question chat { id name accountName username phoneNumber } }
      }
      pageInfo { hasNextPage endCursor }
    }
  }`,
)

/** What was asked most often of what the knowledge did not say, answered since or not, with how often it was asked in the period before. */
export const missingAnswersQuery = graphql(
  `query MissingAnswers($companyId: UUID!, $before: DateTime!, $from: DateTime!, $to: DateTime!, $first: Int) {
    current: unansweredQuestions(companyId: $companyId, from: $from, to: $to, state: ALL, first: $first) { nodes { id question count closedAt } }
    before: unansweredQuestions(companyId: $companyId, from: $before, to: $from, state: ALL, first: $first) { nodes { id count } }
  }`,
)

export const closeQuestion = graphql(`mutation CloseUnansweredQuestion($id: UUID!) { closeUnansweredQuestion(id: $id) { closed } }`)
export const reopenQuestion = graphql(`mutation ReopenUnansweredQuestion($id: UUID!) { reopenUnansweredQuestion(id: $id) { reopened } }`)

/** What the guardrails of the assistants found. */
export const hitsQuery = graphql(
  `query GuardrailHits($companyId: UUID!, $from: DateTime!, $to: DateTime!, $first: Int, $after: String) {
    guardrailHits(companyId: $companyId, from: $from, to: $to, first: $first, after: $after) {
      nodes {
        id createdAt rule direction action excerpt messageId assistant { id name } chat { id name accountName username phoneNumber }
      }
      pageInfo { hasNextPage endCursor }
    }
  }`,
)

export type Question = ResultOf<typeof questionsQuery>["unansweredQuestions"]["nodes"][number]
export type Hit = ResultOf<typeof hitsQuery>["guardrailHits"]["nodes"][number]
export type Report = ResultOf<typeof outcomesQuery>["outcomes"]
export type Breakdowns = ResultOf<typeof breakdownsQuery>
export type StretchRow = ResultOf<typeof stretchesQuery>["stretches"]["nodes"][number]
