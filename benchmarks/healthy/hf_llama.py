"""A small Llama, served: logits of prompts of one length, no cache."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=256, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, intermediate_size=128,
)  # fmt: skip
model = LlamaForCausalLM(config).eval()
fast = torch.compile(model)
for _ in range(10):
    with torch.no_grad():
        fast(input_ids=torch.randint(0, 256, (4, 32)), use_cache=False)
