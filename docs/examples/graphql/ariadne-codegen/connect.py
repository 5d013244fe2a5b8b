"""The address of the server, and an access token of a company."""

import os

from platform_client import Client

URL = os.environ.get("PLATFORM_URL", "http://127.0.0.1:4000")
TOKEN = os.environ.get("PLATFORM_TOKEN", "")


def connect() -> Client:
    """Returns a client of queries, mutations and subscriptions."""
    return Client(
        url=f"{URL}/graphql",
        headers={"X-Access-Token": TOKEN},
        ws_url=f"ws{URL.removeprefix('http')}/graphql",
        ws_connection_init_payload={"accessToken": TOKEN},
    )
