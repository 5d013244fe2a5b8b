"""Lists chats, creates one, takes it over and sends a message."""

import asyncio

from connect import connect
from platform_client import (
    ChatWhere,
    Client,
    CreateChatInput,
    CreateMessageInput,
    Messenger,
    MessengerFilter,
)

ON_OR_OFF = {True: "on", False: "off"}


async def print_page(client: Client, number: int, after: str | None) -> str | None:
    """Prints a page of the chats of the playground; returns the cursor of the next page."""
    where = ChatWhere(messenger=MessengerFilter(eq=Messenger.PLAYGROUND))
    chats = (await client.chats(where, first=2, after=after)).chats
    print(f"page {number}:", ", ".join(chat.name or "" for chat in chats.nodes))
    return chats.page_info.end_cursor if chats.page_info.has_next_page else None


async def main() -> None:
    async with connect() as client:
        assistants = (await client.first_assistant()).assistants.nodes
        if not assistants:
            raise SystemExit("The company has no assistant")
        print("assistant:", assistants[0].name)

        following = await print_page(client, 1, None)
        if following:
            await print_page(client, 2, following)

        new_chat = CreateChatInput(
            messenger=Messenger.PLAYGROUND,
            from_id="example",
            name="Dora",
            assistant_id=assistants[0].id,
        )
        chat = (await client.create_chat(new_chat)).create_chat
        control = ON_OR_OFF[chat.is_under_ai_control]
        print(f"created: {chat.name} on {chat.messenger.value}, AI is {control}")

        taken = (await client.take_over(chat.id)).set_ai_control
        reason = taken.ai_disable_reason.value if taken.ai_disable_reason else None
        print(f"taken over: AI is {ON_OR_OFF[taken.is_under_ai_control]}, {reason}")

        new_message = CreateMessageInput(chat_id=chat.id, text="Hello, Dora!")
        message = (await client.send_message(new_message)).create_message
        print(f"sent: {message.text} ({message.role.value})")


asyncio.run(main())
