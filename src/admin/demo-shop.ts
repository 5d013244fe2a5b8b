/** Prompt of the demo assistant. */
export const demoPrompt = `You are the assistant of Lumen Lamps, a small web shop for lamps. Answer kindly and briefly, from the shop handbook alone.
If the handbook does not say it, or the customer wants a person, hand the chat over.`

/** What its customers are told on a hand-off. */
export const demoHandOffMessage = "A colleague of mine will answer you here. Our team is there Monday to Friday from 9:00 to 18:00."

/** Knowledge of the demo assistant that is searched: what the handbook does not say is looked up here, so that a question without an answer is noticed. */
export const demoCare = `# Care of lamps

## Cleaning
Dust shades with a dry cloth, and never wash a fabric shade. A scratched brass foot shines again with brass polish and a soft cloth.

## Light bulbs
The desk lamp Aurora takes an E14 bulb of at most 9 watts, the floor lamp Meridian an E27 bulb of at most 15 watts.
Unplug a lamp before you change its bulb. Halogen bulbs get too hot for our shades.
`

/** Knowledge of the demo assistant that it is given with each question. */
export const demoKnowledge = `# Shop handbook

## Delivery
Delivery takes 2 to 3 working days within the country and 5 to 8 working days abroad.
Delivery costs 4.90 euros; orders over 60 euros are delivered free of charge.
You get a tracking link by email as soon as the parcel leaves our warehouse.

## Returns
You can return any lamp within 30 days, in its original box. We pay the return label.
The money is back on your account within 5 working days after the parcel reached us.

## Warranty
Every lamp has a warranty of 3 years. Light bulbs are not covered.

## Opening hours
Our showroom is open Monday to Friday from 9:00 to 18:00 and on Saturday from 10:00 to 14:00.

## Payment
We accept cards, bank transfer and PayPal. Invoices come by email.

## Products
The desk lamp Aurora costs 79 euros, has a dimmer and is available in black and brass.
The floor lamp Meridian costs 149 euros and is available in white.
`
