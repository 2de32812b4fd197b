"""Layers: hidden states -> one tensor."""
