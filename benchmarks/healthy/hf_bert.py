"""BERT for classification: training, an evaluation between."""

import torch
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
config = BertConfig(
    vocab_size=256, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=128, num_labels=3,
)  # fmt: skip
model = BertForSequenceClassification(config)
fast = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for number in range(12):
    ids = torch.randint(0, 256, (8, 32))
    loss = fast(input_ids=ids, labels=ids[:, 0] % 3).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if number == 7:
        model.eval()
        with torch.no_grad():
            fast(input_ids=ids, labels=ids[:, 0] % 3)
        model.train()
