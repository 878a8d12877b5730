"""A small vision transformer of timm."""

import timm
import torch
from _common import batches

model = timm.create_model(
    "vit_tiny_patch16_224", img_size=64, depth=2, num_classes=10, pretrained=False
).eval()
fast = torch.compile(model)
for x in batches(8, 4, 3, 64, 64):
    with torch.inference_mode():
        fast(x)
