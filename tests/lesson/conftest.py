import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> Iterator[None]:
    torch = pytest.importorskip("torch")
    logging.getLogger("torch._dynamo").setLevel(logging.ERROR)
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()
    logging.getLogger("torch._dynamo").setLevel(logging.NOTSET)
