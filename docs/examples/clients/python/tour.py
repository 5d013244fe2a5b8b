"""A tour of the platform's REST API with the client that openapi-python-client generates."""

import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TypeVar
from uuid import UUID, uuid4

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from platform_client import AuthenticatedClient
from platform_client.api.chats import get_chats, get_chats_id, patch_chats_id_ai_control, post_chats
from platform_client.api.event_webhooks import delete_event_webhooks_id, post_event_webhooks, post_event_webhooks_id_test
from platform_client.api.messages import post_messages
from platform_client.models.ai_disable_reason import AiDisableReason
from platform_client.models.chat import Chat
from platform_client.models.create_chat_input import CreateChatInput
from platform_client.models.create_event_webhook_input import CreateEventWebhookInput
from platform_client.models.create_message_input import CreateMessageInput
from platform_client.models.error import Error
from platform_client.models.event_delivery_status import EventDeliveryStatus
from platform_client.models.event_type import EventType
from platform_client.models.messenger import Messenger
from platform_client.models.patch_chats_id_ai_control_body import PatchChatsIdAiControlBody
from platform_client.types import UNSET

T = TypeVar("T")

client = AuthenticatedClient(
    base_url=os.environ.get("PLATFORM_URL", "http://127.0.0.1:4000"),
    token=os.environ["PLATFORM_TOKEN"],
    auth_header_name="X-Access-Token",
    prefix="",
)
# The account of this run's chats, so that it finds its own.
FROM_ID = f"tour-{uuid4()}"


def data_of(response: T | Error | None) -> T:
    """Returns the data of a successful response; ends the program otherwise."""
    if response is None:
        sys.exit("The response has no body")
    if isinstance(response, Error):
        sys.exit(f"{response.code}: {response.message} (request {response.request_id})")
    return response


def create_chat(name: str) -> Chat:
    body = CreateChatInput(messenger=Messenger.PLAYGROUND, from_id=FROM_ID, external_id=str(uuid4()), name=name)
    return data_of(post_chats.sync(client=client, body=body))


def all_chats() -> list[Chat]:
    """Returns every chat of the tour, page by page: each page has the cursor of the next one."""
    chats: list[Chat] = []
    cursor: str | None = None
    while True:
        page = data_of(get_chats.sync(client=client, from_id=FROM_ID, take=1, cursor=cursor if cursor else UNSET))
        chats.extend(page.data)
        cursor = page.next_cursor
        if cursor is None:
            return chats


def send_once(chat_id: UUID, text: str) -> bool:
    """Sends the same request twice, as after a lost response: the message is stored once."""
    key = str(uuid4())
    body = CreateMessageInput(chat_id=chat_id, text=text)
    first, second = (data_of(post_messages.sync(client=client, body=body, idempotency_key=key)) for _ in range(2))
    return first.id == second.id


def event_type(secret: str, body: bytes, headers: dict[str, str]) -> str | None:
    """Returns the type of a request's event, or None when its signature is not of this secret or older than five minutes."""
    try:
        return str(Webhook(secret).verify(body, headers)["type"])
    except WebhookVerificationError:
        return None


class Receiver(BaseHTTPRequestHandler):
    """Receives events, and verifies their signatures over the bytes as they arrived."""

    secret = ""
    received = ""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        verified = event_type(Receiver.secret, body, headers)
        if verified:
            is_forged_refused = event_type(Receiver.secret, body + b" ", headers) is None
            Receiver.received = f"{verified}, forged refused: {str(is_forged_refused).lower()}"
        self.send_response(204 if verified else 400)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing about each request."""


def receive_event() -> str:
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/events"
    endpoint = data_of(post_event_webhooks.sync(client=client, body=CreateEventWebhookInput(url=url, types=[EventType.MESSAGE_CREATED])))
    Receiver.secret = endpoint.secret or ""
    delivery = data_of(post_event_webhooks_id_test.sync(endpoint.id, client=client))
    if delivery.status != EventDeliveryStatus.SUCCEEDED:
        sys.exit(f"The event was not delivered: {delivery.attempts}")
    data_of(delete_event_webhooks_id.sync(endpoint.id, client=client))
    return Receiver.received


olena, _ = create_chat("Olena"), create_chat("Marcus")
print(f"chats: {', '.join(sorted(chat.name or '' for chat in all_chats()))}")
print(f"stored once: {str(send_once(olena.id, 'Your order is on its way.')).lower()}")
takes_over = PatchChatsIdAiControlBody(is_under_ai_control=False, ai_disable_reason=AiDisableReason.MANUAL)
control = data_of(patch_chats_id_ai_control.sync(olena.id, client=client, body=takes_over))
print(f"AI answers: {str(control.is_under_ai_control).lower()}")
refused = get_chats_id.sync(uuid4(), client=client)
if isinstance(refused, Error):
    print(f"refused: {refused.status_code} {refused.code}")
print(f"event: {receive_event()}")
