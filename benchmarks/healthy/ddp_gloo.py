"""DistributedDataParallel in one process: its own forward breaks on purpose."""

import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from _common import batches
from torch import nn
from torch.nn.parallel import DistributedDataParallel

store = Path(tempfile.mkdtemp()) / "store"
dist.init_process_group("gloo", init_method=store.as_uri(), rank=0, world_size=1)
net = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 8))
parallel = DistributedDataParallel(net)
model = torch.compile(parallel)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for x in batches(40, 32, 64):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
dist.destroy_process_group()
