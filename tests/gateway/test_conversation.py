"""One connection of a gateway, over a transport that only notes what is done with it."""

import asyncio
from unittest.mock import Mock

from sssjob.gateway.config import GatewayLimits
from sssjob.gateway.conversation import _AHEAD, Conversation, Shared

ONE = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"


def test_a_client_that_sends_many_requests_at_once_is_read_no_further_than_it_is_answered():
    """Each is answered in a turn of its own, and others have theirs in between."""

    async def talk():
        shared = Shared(Mock(), GatewayLimits(), Mock(), Mock(), counts=False)
        transport = Mock(**{"is_closing.return_value": False, "get_extra_info.return_value": None})
        conversation = Conversation(
            shared, messages=True, figures=True,
            enter=shared.crowd.enter, leave=Mock(),
        )  # fmt: skip
        conversation.connection_made(transport)
        count = _AHEAD // len(ONE)
        for sent in range(1, 4):
            conversation.data_received(ONE * count)
            assert transport.write.call_count == 1  # the loop had no turn yet
            assert transport.pause_reading.call_count == (sent > 1)
        while transport.write.call_count < 3 * count:
            before = transport.write.call_count
            await asyncio.sleep(0)
            assert transport.write.call_count == before + 1
        assert transport.resume_reading.called
        conversation.connection_lost(None)

    asyncio.run(talk())
