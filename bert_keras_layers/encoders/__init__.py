"""Encoders: token ids -> every hidden state."""
