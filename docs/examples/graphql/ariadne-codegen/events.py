"""Prints each new message of any chat, until it is stopped."""

import asyncio

from connect import connect
from platform_client import EventType


async def main() -> None:
    # After a lost connection, subscribe again with after= the id of the last event.
    async for response in connect().events(types=[EventType.MESSAGE_CREATED]):
        event = response.events
        text = event.message.text if event.message else None
        print(f"{event.type_.value}: {text}", flush=True)


asyncio.run(main())
