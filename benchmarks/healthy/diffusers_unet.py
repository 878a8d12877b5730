"""A small UNet: the denoiser alone, called with the steps of a schedule."""

import torch
from diffusers import UNet2DModel

torch.manual_seed(0)
model = UNet2DModel(
    sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(16, 32),
    down_block_types=("DownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "UpBlock2D"),
    norm_num_groups=8,
).eval()  # fmt: skip
fast = torch.compile(model)
x = torch.randn(2, 3, 16, 16)
for step in range(9, -1, -1):
    with torch.no_grad():
        noise = fast(x, torch.tensor(step * 100), return_dict=False)[0]
    x = x - 0.1 * noise
