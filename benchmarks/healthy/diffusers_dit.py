"""A small diffusion transformer, trained to predict noise."""

import torch
from diffusers import DiTTransformer2DModel

torch.manual_seed(0)
model = DiTTransformer2DModel(
    num_attention_heads=2, attention_head_dim=16, in_channels=4, num_layers=2, sample_size=8,
    num_embeds_ada_norm=10, patch_size=2, norm_num_groups=4,
)  # fmt: skip
fast = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(10):
    x, noise = torch.randn(4, 4, 8, 8), torch.randn(4, 4, 8, 8)
    t, labels = torch.randint(0, 1000, (4,)), torch.randint(0, 10, (4,))
    out = fast(x + noise, timestep=t, class_labels=labels, return_dict=False)[0]
    loss = (out - noise).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
