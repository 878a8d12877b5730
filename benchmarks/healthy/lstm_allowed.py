"""An LSTM that is served, with the setting that lets Dynamo capture it."""

import torch
from _common import batches
from torch import nn

torch._dynamo.config.allow_rnn = True


class Tagger(nn.Module):
    """An LSTM and a head."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(32, 64, batch_first=True)
        self.head = nn.Linear(64, 5)

    def forward(self, x):
        """Run it."""
        return self.head(self.lstm(x)[0])


net = Tagger().eval()
fast = torch.compile(net)
for x in batches(12, 8, 16, 32):
    with torch.no_grad():
        fast(x)
