"""An encoder and a decoder: BART, served in inference mode."""

import torch
from transformers import BartConfig, BartForConditionalGeneration

torch.manual_seed(0)
config = BartConfig(
    vocab_size=256, d_model=64, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
    decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128,
)  # fmt: skip
model = BartForConditionalGeneration(config).eval()
fast = torch.compile(model)
for _ in range(8):
    source, target = torch.randint(3, 256, (4, 24)), torch.randint(3, 256, (4, 16))
    with torch.inference_mode():
        fast(input_ids=source, decoder_input_ids=target, use_cache=False)
