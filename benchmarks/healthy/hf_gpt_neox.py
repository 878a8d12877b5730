"""A small GPT-NeoX, trained on its own prompts."""

import torch
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

torch.manual_seed(0)
config = GPTNeoXConfig(
    vocab_size=256, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=128, max_position_embeddings=64,
)  # fmt: skip
model = GPTNeoXForCausalLM(config)
fast = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(10):
    ids = torch.randint(0, 256, (4, 32))
    loss = fast(input_ids=ids, labels=ids, use_cache=False).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
