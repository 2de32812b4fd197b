"""Heads: one vector per text or token -> logits or probabilities."""
