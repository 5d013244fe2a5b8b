/** What customers of the demo's shop wrote before the first start, and what they were answered: the texts of `demo-past.ts`. */

/** A subject of the handbook: how customers ask, and what the assistant answers. */
export const handbookTalks: readonly { questions: readonly string[]; answer: string }[] = [
  {
    questions: ["How long does delivery take?", "When will a lamp that I order today be here?", "Is two days enough for a parcel to Graz?"],
    answer: "Delivery takes 2 to 3 working days within the country and 5 to 8 working days abroad.",
  },
  {
    questions: ["What does shipping cost?", "Do I pay for delivery if I order two desk lamps?", "Is delivery free?"],
    answer: "Delivery costs 4.90 euros. Orders over 60 euros are delivered free of charge.",
  },
  {
    questions: ["Where can I see how far my parcel is?", "Do you send a tracking number?"],
    answer: "You get a tracking link by email as soon as the parcel leaves our warehouse.",
  },
  {
    questions: ["Can I send a lamp back?", "The Meridian is too tall for our hall. Can I return it?", "How long may I try a lamp at home?"],
    answer: "You can return any lamp within 30 days, in its original box. We pay the return label.",
  },
  {
    questions: ["When do I get my money back?", "I returned a lamp on Monday. How long does the refund take?"],
    answer: "The money is back on your account within 5 working days after the parcel reached us.",
  },
  {
    questions: ["How long is the warranty?", "My lamp is two years old and flickers. Is that still covered?"],
    answer: "Every lamp has a warranty of 3 years. Light bulbs are not covered.",
  },
  {
    questions: ["Are you open on Saturday?", "When can I come to the showroom?", "Until when are you open tonight?"],
    answer: "Our showroom is open Monday to Friday from 9:00 to 18:00 and on Saturday from 10:00 to 14:00.",
  },
  {
    questions: ["Can I pay with PayPal?", "Do you take bank transfers?", "Which cards do you accept?"],
    answer: "We accept cards, bank transfer and PayPal.",
  },
  { questions: ["Where do I find my invoice?", "I need an invoice for my office."], answer: "Invoices come by email, with your order." },
  {
    questions: ["Does the Aurora have a dimmer?", "Which colours does the desk lamp come in?", "How much is the Aurora?"],
    answer: "The desk lamp Aurora costs 79 euros, has a dimmer and is available in black and brass.",
  },
  {
    questions: ["What does the floor lamp cost?", "Is there a Meridian in white?"],
    answer: "The floor lamp Meridian costs 149 euros and is available in white.",
  },
]

/** What only a person can do: the assistant hands over at once. */
export const personTalks: readonly { question: string; reason: string; person: string }[] = [
  {
    question: "The shade of my Meridian arrived broken.",
    reason: "A lamp arrived damaged.",
    person: "I am sorry. A new shade leaves our warehouse today, and you can keep the old one.",
  },
  {
    question: "I ordered brass and got a black Aurora. Can I talk to somebody?",
    reason: "The customer got the wrong colour and wants a person.",
    person: "That was our mistake. The brass one is on its way, with a return label for the black one.",
  },
  {
    question: "I entered the wrong house number. Please send my order to number 14.",
    reason: "The address of an order has to be changed.",
    person: "Done, the parcel goes to number 14.",
  },
  {
    question: "My tracking link has shown the same town for a week.",
    reason: "A parcel does not arrive.",
    person: "I asked the carrier: the parcel was held back and arrives tomorrow.",
  },
]

/** What a person joined in for, after an answer of the assistant. */
export const joinedTalks: readonly { question: string; answer: string; more: string; person: string }[] = [
  {
    question: "How much is the Aurora?",
    answer: "The desk lamp Aurora costs 79 euros, has a dimmer and is available in black and brass.",
    more: "We would need twelve for our office.",
    person: "For twelve you get ten percent off. I have sent you an offer by email.",
  },
  {
    question: "Can I return a lamp after 30 days?",
    answer: "You can return any lamp within 30 days, in its original box. We pay the return label.",
    more: "I was in hospital, it is two days over.",
    person: "Of course, send it back. I hope you are well again.",
  },
]

/** What customers began to ask lately. The handbook says nothing about it, so the search finds nothing and the assistant hands over. */
export const giftTalks: readonly { question: string; query: string }[] = [
  { question: "Do you gift wrap lamps?", query: "gift wrapping" },
  { question: "Can you wrap the Aurora as a present?", query: "wrap the Aurora as a present" },
  { question: "How much is gift wrapping?", query: "price of gift wrapping" },
  { question: "I would like to have it wrapped as a gift, is that possible?", query: "wrapped as a gift" },
  { question: "Can I add a card with a few words to the parcel?", query: "greeting card in the parcel" },
  { question: "Is there a gift box for the desk lamp?", query: "gift box for the desk lamp" },
  { question: "It is a birthday present. Can you leave the invoice out and wrap it?", query: "present without invoice, gift wrapping" },
  { question: "Do you have wrapping paper for Christmas?", query: "Christmas wrapping paper" },
]

/** What a person answered about gifts. */
export const giftAnswers: readonly string[] = [
  "Yes, we wrap any lamp for 4 euros. I have added it to your order.",
  "With pleasure: gift wrapping is 4 euros, a card with your words is free.",
  "We do, in paper or in a box. Tell me your order number and I will take care of it.",
]

/** Names of customers. */
export const customers: readonly string[] =
  "Olena Marcus Aisha Jonas Mila Petra Andriy Sofia Luca Hanna Emre Nadia Felix Iryna Paul Lena Taras Clara Omar Greta Ben Yuki Marta Elias Zoe Ivan Nora Leo Amira Karl".split(
    " ",
  )
