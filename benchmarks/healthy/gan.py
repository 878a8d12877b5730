"""A generator and a discriminator, each compiled, trained in turn."""

import torch
from _common import batches
from torch import nn

make = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 256), nn.Tanh())
judge = nn.Sequential(nn.Linear(256, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
generator, discriminator = torch.compile(make), torch.compile(judge)
g_step = torch.optim.Adam(make.parameters(), lr=2e-4)
d_step = torch.optim.Adam(judge.parameters(), lr=2e-4)
loss_of = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)
for real in batches(12, 64, 256):
    fake = generator(torch.randn(64, 16))
    d_step.zero_grad()
    loss = loss_of(discriminator(real), ones) + loss_of(discriminator(fake.detach()), zeros)
    loss.backward()
    d_step.step()
    g_step.zero_grad()
    loss_of(discriminator(fake), ones).backward()
    g_step.step()
