"""A small Mamba, served without its cache."""

import torch
from transformers import MambaConfig, MambaForCausalLM

torch.manual_seed(0)
config = MambaConfig(
    vocab_size=128, hidden_size=32, num_hidden_layers=1, state_size=8, expand=2, time_step_rank=4
)
model = MambaForCausalLM(config).eval()
fast = torch.compile(model)
for _ in range(8):
    with torch.no_grad():
        fast(input_ids=torch.randint(0, 128, (2, 8)), use_cache=False)
